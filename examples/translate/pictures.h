// The pictures of main.cpp besides the loss: the attention of every head, and the graph of a training step.
#pragma once

#include <filesystem>
#include <iostream>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/xgrad.h>

/// The attention recorded while `source`, padded to S tokens, became `written`, word by word: each layer and head of
/// the encoder, of the decoder and between them, without the padding, and which words came from which.
inline void draw_attention(const std::filesystem::path& out, const xgrad::nn::AttentionRecorder& recorder,
                           xgrad::kit::Tokens source, xgrad::kit::Tokens written, std::int64_t S) {
  using namespace xgrad;
  source.push_back("<eos>");
  const auto read = slice(0, std::ssize(source));
  const Array encoder = kit::attention_weights(recorder, ".attn")[{_, _, read, read}];  // (layers, H, S, S)
  const Array decoder = kit::attention_weights(recorder, ".self_attn");                 // (layers, H, T, T)
  Array cross = kit::attention_weights(recorder, ".cross_attn");                        // (layers, H, T, S)
  written.resize(cross.dim(2), "<eos>");
  const std::int64_t N = cross.dim(3) / S;  // encoder layers that are attended to at once
  kit::Tokens keys;
  for (const std::string& key : source) {
    for (std::int64_t layer = 1; layer <= N; ++layer) keys.push_back(N == 1 ? key : str(key, " ", layer));
  }
  cross = cross[{_, _, _, slice(0, std::ssize(keys))}];
  kit::HeatMaps maps = kit::cross_maps(written, keys, {.title = "Decoder attention to the encoder"});
  const auto draw = [&](const char* file, const Array& weights, const kit::HeatMaps& of) {
    kit::save(out / file, kit::attention_svg(weights, of));
  };
  draw("attention_encoder.svg", encoder, kit::encoder_maps(source, {.title = "Encoder self-attention"}));
  draw("attention_decoder.svg", decoder, kit::decoder_maps("<bos>", written, {.title = "Decoder self-attention"}));
  draw("attention_cross.svg", cross, maps);
  maps.title = "Attention of each word to the source";
  kit::save(out / "alignment.svg", kit::alignment_svg(cross, maps));
  std::cout << kit::alignment_text(cross, maps);
}

/// The model in some detail, and one training step, forward and backward, with its parts folded.
inline void draw_graphs(const std::filesystem::path& out, const xgrad::Tensor& loss, const xgrad::Tensors& parameters) {
  using namespace xgrad;
  save_graph(out / "model.svg", {loss}, {.title = "The translation transformer"});
  Tensors step = grad(loss, parameters, {.create_graph = true});
  step.insert(step.begin(), loss);
  const GraphOptions folded{.title = "One training step: the loss, and the gradients of all parameters", .depth = 0};
  for (const char* name : {"graph.dot", "graph.svg"}) save_graph(out / name, step, folded);
}
