// The translator of examples/translate with other positions and other norms: what each is worth.
//
//   docs/tools/run other_parts [--epochs N] [--seeds N] [--out FOLDER] ...
#include <cmath>
#include <iostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  std::int64_t epochs = 100;
  std::int64_t seeds = 5;
};

enum class Positions { added, joined, learned, none };
enum class Norm { layer, no_gain, batch, none };

struct Parts {
  const char* name = "";
  Positions positions = Positions::added;
  bool factor = true;  // embeddings times sqrt(C)
  Norm norm = Norm::layer;
};
constexpr std::array<Parts, 10> variants{{{"positions added"},
                                          {"positions added, without sqrt(C)", Positions::added, false},
                                          {"positions joined", Positions::joined, true},
                                          {"positions joined, without sqrt(C)", Positions::joined, false},
                                          {"positions learned", Positions::learned, true},
                                          {"positions learned, without sqrt(C)", Positions::learned, false},
                                          {"no positions", Positions::none, true},
                                          {"norm without gain and bias", Positions::added, true, Norm::no_gain},
                                          {"batch norm", Positions::added, true, Norm::batch},
                                          {"no norm", Positions::added, true, Norm::none}}};

constexpr std::int64_t width = 32, heads = 4, layers = 2, longest = 10;  // C, H, blocks, T
constexpr double dropout = 0.1;

/// (B, T, C) -> (B, T, C)
struct AnyNorm : nn::Layer<AnyNorm, Norm> {
  using Layer::Layer;
  nn::Maybe<nn::LayerNorm> layer{at("layer"), options == Norm::layer || options == Norm::no_gain, width,
                                 nn::LayerNormOptions{.affine = options == Norm::layer}};
  nn::Maybe<nn::BatchNorm1d> batch{at("batch"), options == Norm::batch, width};

  Tensor forward(const Tensor& x) const {
    if (batch) return reshape((*batch)(reshape(x, {-1, width})), x.shape());
    return layer ? (*layer)(x) : x;
  }
};

/// Post-norm: norm(x + dropout(y)).
struct Residual : nn::Layer<Residual, Norm> {
  using Layer::Layer;
  AnyNorm norm{at("norm"), options};
  nn::Dropout drop{at("drop"), dropout};
  Tensor forward(const Tensor& x, const Tensor& y) const { return norm(x + drop(y)); }
};

/// A block of the decoder, or of the encoder, which has no memory.
struct Block : nn::Layer<Block, Norm> {
  using Layer::Layer;
  nn::MultiHeadAttention attn{at("attn"), width, heads, {.dropout = dropout}};
  nn::MultiHeadAttention cross{at("cross"), width, heads, {.dropout = dropout}};
  nn::Mlp ffn{at("ffn"), {.in = width, .hidden = 2 * width, .dropout = dropout}};
  Residual residual1{at("residual1"), options}, residual2{at("residual2"), options}, residual3{at("residual3"), options};

  Tensor forward(const Tensor& x, const AttentionMask& mask) const {
    const Tensor y = residual1(x, attn(x, mask));
    return residual3(y, ffn(y));
  }
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask) const {
    const Tensor y = residual1(x, attn(x, nn::causal));
    const Tensor z = residual2(y, cross(y, memory, memory, mask));
    return residual3(z, ffn(z));
  }
};

struct Sizes {
  std::int64_t source, target;  // of the vocabularies
  Parts parts;
};

/// Words and positions as vectors: ids (B, T) -> (B, T, C).
struct Embedded : nn::Layer<Embedded, Sizes> {
  using Layer::Layer;
  const Parts& parts = options.parts;
  const std::int64_t words = parts.positions == Positions::joined ? width / 2 : width;
  nn::Embedding embedding{at("embedding"), options.source, words};
  nn::Maybe<nn::LearnedPositions> learned{at("learned"), parts.positions == Positions::learned, longest, width};
  nn::Dropout drop{at("drop"), dropout};

  Tensor forward(const Index& ids) const {
    const std::int64_t T = ids.dim(1);
    Tensor x = embedding(ids);
    if (parts.factor) x = x * std::sqrt(static_cast<double>(width));
    const Tensor fixed = nn::sinusoids(T, words);
    if (learned) x = (*learned)(x);
    if (parts.positions == Positions::added) x = x + fixed;
    if (parts.positions == Positions::joined) x = concat({x, broadcast_to(fixed, x.shape())}, -1);
    return drop(x);
  }
};

struct Translator : nn::Layer<Translator, Sizes> {
  using Layer::Layer;
  Embedded source{at("source"), options};
  Embedded target{at("target"), Sizes{options.target, options.target, options.parts}};
  nn::Stack<Block> encoder{at("encoder"), layers, options.parts.norm};
  nn::Stack<Block> decoder{at("decoder"), layers, options.parts.norm};
  nn::Linear out{at("out"), width, options.target};

  Tensor read(const Index& ids, const Index& lengths) const {
    Tensor x = source(ids);
    for (const auto& block : encoder) x = block(x, nn::padding(lengths));
    return x;
  }
  Tensor write(const Index& ids, const Tensor& memory, const Index& lengths) const {
    Tensor x = target(ids);
    for (const auto& block : decoder) x = block(x, memory, nn::padding(lengths));
    return out(x);
  }
  Tensor forward(const Index& ids, const Index& lengths, const Index& shifted) const {
    return write(shifted, read(ids, lengths), lengths);
  }
};

// Greedy translations, all positions anew at every step.
std::vector<kit::Tokens> translations(const Translator& model, const kit::Corpus& corpus) {
  const NoGrad off;
  const nn::Eval eval(model);
  const kit::CorpusBatch batch = corpus.sources(corpus.held_out_sources());
  const Tensor memory = model.read(batch.source, batch.source_lengths);
  Index found(Shape{batch.size(), longest}, corpus.pad());
  for (std::int64_t t = 0; t < longest; ++t) {
    const Tensor logits = model.write(nn::shift_right(found, corpus.bos()), memory, batch.source_lengths);
    const Index best = argmax(logits, -1);
    for (std::int64_t b = 0; b < batch.size(); ++b) found.mutable_data()[b * longest + t] = best.at({b, t});
  }
  return corpus.sentences(found);
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  std::cout << corpus.size() << " pairs, " << corpus.held_out().size() << " sentences held out, " << config.epochs
            << " epochs, means of " << config.seeds << " seeds\n";
  kit::Table table({"", "loss", "held-out BLEU", "BLEU of each seed"});
  std::vector<kit::Series> norms;
  kit::ProgressBar bar({.total = config.seeds * std::ssize(variants), .title = "training"});
  std::int64_t done = 0;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const Parts& parts = variants[v];
    kit::Series curve{.name = parts.norm == Norm::layer ? "layer norm" : parts.name};
    curve.y.resize(static_cast<std::size_t>(config.epochs));
    std::vector<double> bleus;
    for (std::int64_t i = 0; i < config.seeds; ++i) {
      const Seed seed = example.seed + static_cast<std::uint64_t>(i);
      manual_seed(seed);
      const Translator model{nn::root, Sizes{corpus.source_vocab().size(), corpus.target_vocab().size(), parts}};
      kit::reset_to_xavier(model);
      const auto history = kit::train_translator(model, corpus, {.epochs = config.epochs, .seed = seed, .terminal = {}});
      for (std::size_t e = 0; e < history.size(); ++e) {
        curve.y[e] += history[e].loss / static_cast<double>(config.seeds);
      }
      bleus.push_back(kit::mean_bleu(translations(model, corpus), corpus.held_out(), 2));
      bar.update(++done, {{parts.name, kit::fixed(bleus.back(), 3)}});
    }
    const std::string bleu = kit::fixed(experiments::mean(bleus), 3);
    table.row({parts.name, kit::fixed(curve.y.back(), 3), bleu, experiments::of_each_seed(bleus)});
    example.result.add(str("bleu", v), bleu);
    if (v == 0 || parts.norm != Norm::layer) norms.push_back(curve);
  }
  bar.finish();
  std::cout << table.text();
  kit::save_text(example.out / "norms.svg", kit::line_plot(norms, {.title = "Post-norm with other norms, mean of all seeds",
                                                                   .x_label = "epoch",
                                                                   .y_label = "loss per target token (nats)",
                                                                   .y_scale = kit::Scale::log}));
}

}  // namespace

int experiments::other_parts(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train everything so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "other_parts", "A transformer that translates, with other positions and norms.",
                           options, run);
}
