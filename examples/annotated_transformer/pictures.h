// The figures and shapes of docs/learn/annotated_transformer.md, section by section.
#pragma once

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>

#include "training.h"

namespace annotated {

/// n labels, from the first number on.
inline std::vector<std::string> counted(std::int64_t n, std::int64_t first = 0) {
  std::vector<std::string> labels;
  for (std::int64_t i = 0; i < n; ++i) labels.push_back(str(first + i));
  return labels;
}

/// 1: the weights of six words under four masks, and the example of two sequences with 2 and 6 valid keys.
inline void draw_scores(const std::filesystem::path& out) {
  const Tensor k = ones({2, 1, 10, 2});  // one head
  const Tensor v = broadcast_to(reshape(to_real(arange(40)), {1, 1, 10, 4}), {2, 1, 10, 4});
  const Tensor weights = attention_weights(randn({2, 1, 1, 2}), k, padding(index({2, 6}), 10));
  std::cout << "1. weights " << weights.shape() << ", weighted sums " << squeeze(matmul(weights, v)).value() << "\n";

  const Tensor q = variable(randn({1, 1, 6, 4}), "q"), keys = variable(randn({1, 1, 6, 4}), "k");
  const Mask padded = padding(index({4}), 6), causal = later(0, 6), nothing(Shape{}, false);
  save_graph(out / "scores.svg", {attention_weights(q, keys, causal).named("weights")});
  kit::HeatMaps maps{.title = "The same scores under four masks",
                     .queries = counted(6, 1),
                     .keys = counted(6, 1),
                     .columns = 2,
                     .scale = kit::HeatScale::shares};
  const auto panel = [&](const char* title, const Mask& masked) {
    maps.panels.push_back({title, attention_weights(q, keys, masked)});
  };
  panel("none", nothing);
  panel("padding: 4 words", padded);
  panel("later", causal);
  panel("both", padded || causal);
  kit::save(out / "masks.svg", kit::heat_map_svg(maps));
}

/// 2: eight heads over eleven words.
inline void draw_heads(const std::filesystem::path& out) {
  const Attention attn{nn::root, {.dim = 128, .heads = 8, .dropout = 0}};
  const Tensor x = variable(randn({1, 11, 128}), "x");
  const Mask nothing(Shape{}, false);
  const KeysValues seen = attn.remember(x);
  nn::AttentionRecorder recorder;
  const Tensor y = attn(x, seen, nothing).named("y");
  const Array weights = recorder.records().back().weights;  // (1, 8, 11, 11)
  std::cout << "2. heads " << seen.k.shape() << ", weights " << weights.shape() << ", result " << y.shape() << "\n";
  save_graph(out / "heads.svg", {y}, {.reshapes = true});
}

/// 3: the vectors of positions.
inline void draw_positions(const std::filesystem::path& out) {
  const nn::Embedding embedding{nn::root, 200, 32};
  const Positions positions{nn::root, {.dropout = 0}};
  const Tensor h = positions(embedding(index({{5, 2, 5}})), 0).named("h");
  std::cout << "3. words " << h.shape() << "\n";
  save_graph(out / "positions.svg", {h});
  const kit::HeatMaps maps{.title = "Twenty positions",
                           .queries = counted(20),
                           .keys = counted(32),
                           .panels = {{"", sinusoids(0, 20, 32)}},
                           .columns = 1,
                           .query_caption = "position",
                           .key_caption = "column"};
  kit::save(out / "positions_map.svg", kit::heat_map_svg(maps));
}

/// 4 and 5: feed-forward, and the sum and the norm around it.
inline void draw_sublayers(const std::filesystem::path& out) {
  const Options small{.dim = 4, .ffn = 8, .dropout = 0.1};
  const FeedForward ffn{nn::root, small};
  const AddNorm add_norm{nn::root, small};
  const Tensor x = ones({2, 3, 4}).named("x");
  const Tensor y = ffn(x).named("y");
  std::cout << "4. result " << y.shape() << ", the first sentence " << y[{0}].value() << "\n";
  save_graph(out / "feed_forward.svg", {y}, {.equations = true});
  const Tensor in = variable(randn({2, 3, 4}), "x"), fx = variable(randn({2, 3, 4}), "f(x)");
  const Tensor normed = add_norm(in, fx).named("y");
  std::cout << "5. result " << normed.shape() << ", means of its rows " << mean(normed, -1)[{0}].value()
            << "\n";
  save_graph(out / "add_norm.svg", {normed});
}

/// 6 and 7: the blocks.
inline void draw_blocks(const std::filesystem::path& out) {
  const Options options{.source_words = 200, .target_words = 200, .dim = 24, .ffn = 48, .heads = 8, .dropout = 0.1};
  const EncoderBlock encoder_block{nn::root, options};
  const DecoderBlock decoder_block{nn::root, options};
  const Encoder encoder{nn::root, options};
  const Mask padded = padding(index({3, 2}), 100);
  const Tensor x = variable(randn({2, 100, 24}), "x"), encoded = variable(randn({2, 100, 24}), "encoded");
  const Tensor y = encoder_block(x, padded).named("y");
  std::cout << "6. block " << y.shape() << ", encoder " << encoder(Index({2, 100}, 1), padded).shape() << "\n";
  const auto sums = [](const GraphFrame& module) {
    return module.what.starts_with("AddNorm") ? Fold::open : Fold::closed;
  };
  save_graph(out / "encoder_block.svg", {y}, {.fold = sums});
  const Tensor z = decoder_block(x, decoder_block.self_attn.remember(x), later(0, 100),
                                 decoder_block.cross_attn.remember(encoded), padded)
                       .named("y");
  std::cout << "7. block " << z.shape() << "\n";
  save_graph(out / "decoder_block.svg", {z}, {.fold = sums});
}

/// 8: the fourth word of a decoder with one block; 9: the model. Not trained.
inline void draw_model(const std::filesystem::path& out) {
  const Index source = index({{5, 8, 13, 2, 0, 0}}), lengths = index({4}), before = index({{1, 7, 11, 9}});
  const Mask padded = padding(lengths, 6);
  {
    const Transformer model{nn::root, {.source_words = 200, .target_words = 200, .layers = 1, .dropout = 0}};
    Cache cache;
    Tensor first;
    {
      const NoGrad off;
      cache = model.decoder.start(model.encoder(source, padded), padded);
      first = model.decoder.step(before[{_, slice(0, 3)}], cache);
    }
    const Attention attn{nn::root, {.dropout = 0}};
    const Tensor word = ones({1, 1, 32}).named("4th word");
    const KeysValues seen = cache.written[0], now = attn.remember(word);
    seen.k.named("keys of 3 words");
    seen.v.named("values of 3 words");
    const KeysValues joined{concat({seen.k, now.k}, 2), concat({seen.v, now.v}, 2)};
    save_graph(out / "cache.svg", {attn(word, joined, Mask(Shape{}, false)).named("y")}, {.depth = 0});
    const Tensor last = model.decoder.step(before[{_, slice(3, 4)}], cache);
    const Tensor at_once = model(source, lengths, before);
    std::cout << "8. keys " << cache.written[0].k.shape() << ", greatest difference from one pass "
              << max(abs(concat({first, last}, 1) - at_once)).item() << "\n";
  }
  const Transformer model{nn::root, {.source_words = 200, .target_words = 200}};
  const Tensor logits = model(source, lengths, before).named("logits");
  std::cout << "9. logits " << logits.shape() << ", " << model.num_parameters() << " parameters\n";
  save_graph(out / "model.svg", {logits}, {.depth = 1});
}

/// 10: a training step, forward and backward, and the curve of the loss.
inline void draw_training(const std::filesystem::path& out, const Transformer& model, const kit::Corpus& data,
                          const std::vector<double>& losses) {
  const Tensor loss =
      batch_loss(model, data, data.batch(arange(std::min<std::int64_t>(64, data.size())))).named("loss");
  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  save_graph(out / "step.svg", step, {.depth = 0});
  kit::save(out / "loss.svg", kit::line_plot({{.y = losses}}, {.title = "The loss of 600 pairs of sentences",
                                                               .x_label = "epoch",
                                                               .y_label = "loss",
                                                               .y_scale = kit::Scale::log,
                                                               .width = 560,
                                                               .height = 320}));
}

/// Attention during the translation of `source` to `written`: the decoder's self-attention (8), cross-attention (10).
inline void draw_attention(const std::filesystem::path& out, const nn::AttentionRecorder& recorder, kit::Tokens source,
                           kit::Tokens written) {
  source.push_back("<eos>");
  written.push_back("<eos>");
  const auto rows = slice(0, std::ssize(written));
  const Array self = kit::attention_weights(recorder, ".self_attn")[{_, _, rows, rows}];
  const Array cross = kit::attention_weights(recorder, ".cross_attn")[{_, _, rows, slice(0, std::ssize(source))}];
  kit::save(
      out / "written.svg",
      kit::attention_svg(self, kit::decoder_maps("<bos>", written, {.title = "Each word attends to the words before it"}),
                    kit::Average::heads));
  const kit::HeatMaps maps = kit::cross_maps(written, source, {.title = "Attention of each word to the source"});
  kit::save(out / "attention.svg", kit::attention_svg(cross, maps));
  std::cout << kit::alignment_text(cross, maps);
}

}  // namespace annotated
