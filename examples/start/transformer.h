// Stations 8 to 12 of docs/start, each a function that draws its graph and its picture: from the block of a transformer
// to one that has learnt to translate.
#pragma once

#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/draw/heatmap.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/numbers.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

#include "../decoding/pictures.h"
#include "../decoding/table.h"
#include "attention.h"

namespace start {

using namespace xgrad;

/// The gradient of a loss that reaches each of 24 feed-forward networks on top of each other: `connect(x, f(x))` is
/// what the next one gets.
template <class Connect>
kit::Series gradients_by_depth(const char* name, const Connect& connect) {
  manual_seed(1);
  Tensor h = variable(randn({64, 32}));
  Tensors inputs;
  for (int layer = 0; layer < 24; ++layer) {
    const nn::Mlp ffn{nn::root, {.in = 32, .hidden = 64}};
    inputs.push_back(h);
    h = connect(h, ffn(h));
  }
  kit::Series series{.name = name, .style = kit::Series::Style::marked};
  for (const Tensor& gradient : grad(sum(h * randn({64, 32})), inputs)) {
    series.y.push_back(std::sqrt(sum(square(gradient)).item()));
  }
  return series;
}

/// 8: a block of the encoder; layer norm by hand; what the sums do for gradients.
inline void block(const std::filesystem::path& out) {
  const nn::EncoderBlock block{nn::root, {.dim = 32, .ffn = 64, .heads = 4, .dropout = 0}};
  const Tensor x = randn({2, 10, 32}).named("x");
  const Index lengths = index({10, 7});
  const Tensor y = block(x, nn::padding(lengths)).named("y");
  std::cout << layer_norm(tensor({{1, 2}, {2, 3}})).value() << "\n" << block;
  const auto sums = [](const GraphFrame& module) {
    return module.what.starts_with("AddNorm") ? Fold::open : Fold::closed;
  };
  save_graph(out / "08_graph.svg", {y}, {.fold = sums});

  const kit::Series plain = gradients_by_depth("f(x)", [](const Tensor&, const Tensor& fx) { return fx; });
  const kit::Series residual = gradients_by_depth("x + f(x)", [](const Tensor& x, const Tensor& fx) { return x + fx; });
  const kit::Series block_like =
      gradients_by_depth("norm(x + f(x))", [](const Tensor& x, const Tensor& fx) { return layer_norm(x + fx); });
  for (const kit::Series& one : {plain, residual, block_like}) {
    std::cout << one.name << ": " << one.y.front() << " at layer 1, " << one.y.back() << " at layer 24\n";
  }
  kit::save_text(out / "08_picture.svg",
                 kit::line_plot({plain, residual, block_like}, {.title = "The gradient at the input of each layer",
                                                                .x_label = "layer, the loss is above the last",
                                                                .y_label = "norm of the gradient",
                                                                .y_scale = kit::Scale::log,
                                                                .width = 560,
                                                                .height = 320}));
}

/// 9: one pass through encoder and decoder, and who looks at whom.
inline void encoder_decoder(const std::filesystem::path& out) {
  const nn::EncoderDecoder model{nn::root, 20, 30, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0}};
  const Index source = index({{5, 8, 13, 2, 0, 0}}), lengths = index({4});
  const Index target = index({{7, 11, 9, 4, 17, 2}});
  nn::AttentionRecorder recorder;
  const Tensor logits = model(source, lengths, nn::shift_right(target, 1)).named("logits");
  std::cout << cat(logits.shape()) << ", read: " << nn::shift_right(target, 1) << "\n";
  save_graph(out / "09_graph.svg", {logits}, {.depth = 1});

  kit::HeatMaps maps{.title = "Who looks at whom, before anything is learnt",
                     .queries = counted(6),
                     .keys = counted(6),
                     .columns = 3,
                     .scale = kit::HeatScale::shares};
  const auto panel = [&](const char* title, const char* path) {
    maps.panels.push_back({title, kit::numbers(mean(Tensor(recorder.last(path)), 1).value())});
  };
  panel("source to source", "encoder.blocks.0.attn");
  panel("target to target", "decoder.blocks.0.self_attn");
  panel("target to source", "decoder.blocks.0.cross_attn");
  kit::save_text(out / "09_picture.svg", kit::heat_map_svg(maps));
}

/// 10: the cross-entropy of distributions over six words, its gradient, and a few steps of Adam with a warm-up.
inline void learning(const std::filesystem::path& out) {
  {
    const Tensor p = tensor({{0.01, 0.02, 0.02, 0.9, 0.03, 0.02}});
    const Index thanks = index({3});
    const Tensor logits = variable(log(p), "logits");
    ValueRecorder values;
    const Tensor loss = cross_entropy(logits, thanks).named("loss");
    loss.backward();
    std::cout << loss.item() << " " << logits.grad().value() << "\n";
    save_graph(out / "10_graph.svg", {loss}, {.values = &values});

    optim::Adam adam{{logits}, {.lr = 0.1}};
    optim::Scheduler scheduler{adam, optim::schedule::warmup(5)};
    for (int step = 0; step < 10; ++step) {
      adam.step(grad(cross_entropy(logits, thanks), {logits}));
      scheduler.step();
    }
    std::cout << "after ten steps " << cross_entropy(logits, thanks).item() << "\n";
  }
  const Tensor p = tensor({{0.01, 0.02, 0.93, 0.01, 0.02, 0.01},
                           {0.01, 0.8, 0.1, 0.05, 0.01, 0.03},
                           {0.99, 0.001, 0.001, 0.001, 0.002, 0.005},
                           {0.001, 0.002, 0.001, 0.02, 0.94, 0.036},
                           {0.008, 0.009, 0.001, 0.001, 0.001, 0.98}});
  const Index target = index({2, 1, 0, 4, 5});  // i am a student <eos>
  std::cout << cross_entropy(log(p), target, {.reduction = Reduction::none}).value() << "\n"
            << cross_entropy(log(p), target).item() << "\n";
  const kit::HeatMaps maps{
      .title = "je suis étudiant",
      .queries = {"i", "am", "a", "student", "<eos>"},
      .keys = {"a", "am", "i", "thanks", "student", "<eos>"},
      .panels = {{"what the model says", kit::numbers(p.value())}, {"what is right", kit::numbers(one_hot(target, 6))}},
      .columns = 2,
      .scale = kit::HeatScale::shares,
      .query_caption = "position",
      .key_caption = "word"};
  kit::save_text(out / "10_picture.svg", kit::heat_map_svg(maps));
}

/// 11: greedy and beam search on a table of probabilities.
inline void decoding_table(const std::filesystem::path& out) {
  using decoding::Table, decoding::table_bos, decoding::table_eos;
  const std::int64_t bos = table_bos, eos = table_eos;
  Table table, beams;
  const nn::Decoded greedy = nn::greedy(table, {.bos = bos, .eos = eos, .max_length = 4});
  const nn::Hypotheses found =
      nn::beam_search(beams, {.bos = bos, .eos = eos, .max_length = 4, .num_beams = 2, .num_best = 9})[0];
  std::cout << "greedy: " << greedy.tokens << " p " << std::exp(greedy.scores.item()) << "\n";
  for (const nn::Hypothesis& one : found) {
    std::cout << "beam: " << cat(one.tokens) << " p " << std::exp(one.log_p) << ", score " << one.score << "\n";
  }
  kit::save_text(out / "11_picture.svg", decoding::beam_svg(beams.steps(), found));

  ValueRecorder values;
  const Tensor abc = variable({0.5, 0.4, 0.4, 0.6}, "A B C <eos>");
  const Tensor acb = variable({0.5, 0.3, 0.6, 0.6}, "A C B <eos>");
  const auto score = [](const Tensor& p) { return sum(log(p)) / std::pow(4, 0.75); };
  save_graph(out / "11_graph.svg", {score(abc).named("greedy"), score(acb).named("beam")},
             {.direction = Direction::left_to_right, .values = &values});
}

/// The loss of a batch and all its gradients as one graph.
inline void draw_step(const std::filesystem::path& path, const nn::EncoderDecoder& model, const kit::Corpus& corpus) {
  const kit::CorpusBatch batch = corpus.batch(arange(64));
  const Tensor logits = model(batch.source, batch.source_lengths, nn::shift_right(batch.target, corpus.bos()));
  const Tensor loss = cross_entropy(logits, batch.target, {.ignore_index = corpus.pad()}).named("loss");
  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  save_graph(path, step, {.depth = 1});
}

/// 12: a transformer learns to translate, and what it looks at when it does.
inline void translation(const std::filesystem::path& out) {
  const kit::Corpus corpus({.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"});
  const nn::EncoderDecoder model{nn::root,
                                 corpus.source_vocab().size(),
                                 corpus.target_vocab().size(),
                                 {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  const Tensors parameters = model.parameters();
  draw_step(out / "12_graph.svg", model, corpus);

  optim::Adam adam{parameters, {.lr = 0.005}};
  for (std::uint64_t epoch = 1; epoch <= 100; ++epoch) {
    const Index order = random_permutation(corpus.size(), {.seed = 1, .draw = epoch});
    Tensor loss;
    for (std::int64_t begin = 0; begin < order.size(); begin += 64) {
      const kit::CorpusBatch batch = corpus.batch(order[{slice(begin, begin + 64)}]);
      const Index before = nn::shift_right(batch.target, corpus.bos());
      const Tensor logits = model(batch.source, batch.source_lengths, before);
      loss = cross_entropy(logits, batch.target, {.ignore_index = corpus.pad()});
      adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, 1).gradients);
    }
    if (epoch == 1 || epoch == 100) std::cout << "epoch " << epoch << ", loss " << loss.item() << "\n";
  }

  const nn::Eval eval(model);
  const auto translate = [&](const char* sentence) {
    const kit::CorpusBatch batch = corpus.sources({kit::words(sentence)});
    auto writing = model.start(batch.source, batch.source_lengths);
    return corpus.sentences(
        nn::greedy(writing, {.bos = corpus.bos(), .eos = corpus.eos(), .max_length = 10}).tokens)[0];
  };
  for (const kit::KnownPair& pair : kit::known_pairs) {
    std::cout << pair.source << " -> " << kit::joined(translate(pair.source)) << "\n";
  }

  nn::AttentionRecorder recorder;
  kit::Tokens written = translate("i'm home ."), source = kit::words("i'm home .");
  written.push_back("<eos>");
  source.push_back("<eos>");
  const Array weights = kit::attention_weights(recorder, ".cross_attn")[{_, _, _, slice(0, std::ssize(source))}];
  kit::save_text(out / "12_picture.svg",
                 kit::attention_svg(weights, kit::cross_maps(written, source, {.title = "What each word looked at"}),
                                    kit::Average::heads));
}

}  // namespace start
