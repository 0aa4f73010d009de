// A small language model of one's own with one part changed: norms whose mean and deviation are constants for the
// backward pass (Xu, Sun, Zhang, Zhao, Lin, "Understanding and Improving Layer Normalization", 2019), and attention
// that was trained without a causal mask.
//
//   docs/tools/run own_decoder [--epochs N] [--seeds N] [--out FOLDER] ...
#include <iostream>
#include <span>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trials.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  std::int64_t epochs = 60;
  std::int64_t seeds = 5;
};

constexpr std::int64_t length = 16, batch_size = 50;  // tokens of a sequence, sequences of a step

enum class Over { row, batch };  // layer norm, batch norm

struct Options {
  const char* name = "layer norm";
  Over over = Over::row;
  bool detached = false;  // mean and deviation are constants for the backward pass
  bool causal = true;
  std::int64_t words = 0;
};

struct Norm : nn::Layer<Norm, Options> {
  using Layer::Layer;
  const Tensor weight = param("weight", {32}, nn::init::constant(1)), bias = param("bias", {32}, nn::init::zeros());

  Tensor forward(const Tensor& x) const {  // (B, T, C)
    const Axes axes = options.over == Over::row ? Axes{-1} : Axes{0, 1};
    Tensor shift = mean(x, axes, {.keepdim = true});
    Tensor scale = sqrt(var(x, axes, {.keepdim = true, .correction = 0}) + 1e-5);
    if (options.detached) shift = shift.detach(), scale = scale.detach();
    return (x - shift) / scale * weight + bias;
  }
};

struct Block : nn::Layer<Block, Options> {  // post-norm
  using Layer::Layer;
  nn::MultiHeadAttention attn{at("attn"), 32, 4};
  Norm norm1{at("norm1"), options};
  nn::Mlp ffn{at("ffn"), {.in = 32, .hidden = 64}};
  Norm norm2{at("norm2"), options};

  Tensor forward(const Tensor& x) const {
    const Tensor h = norm1(x + attn(x, options.causal ? nn::causal : AttentionMask{}));
    return norm2(h + ffn(h));
  }
};

struct Model : nn::Layer<Model, Options> {
  using Layer::Layer;
  nn::Embedding embedding{at("embedding"), options.words, 32};
  nn::PositionalEncoding positions{at("positions"), length, 32};
  nn::Stack<Block> blocks{at("blocks"), 2, options};
  nn::Linear out{at("out"), 32, options.words};

  Tensor forward(const Index& ids) const { return out(blocks(positions(embedding(ids)))); }  // (B, T) -> (B, T, V)
};

// The French sentences, one after the other, cut into sequences of `length` + 1: each begins with the last of the one
// before.
Index sequences(const kit::Corpus& corpus) {
  std::vector<std::int64_t> text;
  for (const std::int64_t id : corpus.batch(arange(corpus.size())).target) {
    if (id != corpus.pad()) text.push_back(id);
  }
  std::vector<std::int64_t> cut;
  for (std::size_t at = 0; at + length < text.size(); at += length) {
    cut.insert(cut.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
               text.begin() + static_cast<std::ptrdiff_t>(at) + length + 1);
  }
  const std::int64_t rows = std::ssize(cut) / (length + 1);
  return Index(Shape{rows, length + 1}, cut);
}

struct Outcome {
  std::vector<double> epochs;  // the mean loss of each
  double whole, prefixes;      // the loss of the token in the middle, of sequences read whole and read up to there
};

Outcome learn(const Config& config, const Index& text, const Options& options, Seed seed) {
  const Model model{nn::root, options};
  optim::Adam adam{model.parameters(), {.lr = 0.003}};
  Outcome result{};
  for (std::int64_t epoch = 0; epoch < config.epochs; ++epoch) {
    const Index order = randperm(text.dim(0), {.seed = seed, .draw = static_cast<std::uint64_t>(epoch)});
    double sum = 0;
    std::int64_t steps = 0;
    for (std::int64_t from = 0; from + batch_size <= text.dim(0); from += batch_size, ++steps) {
      const Index rows = text[order[{slice(from, from + batch_size)}]];
      const Tensor loss = cross_entropy(model(rows[{_, slice(0, length)}]), rows[{_, slice(1, length + 1)}]);
      adam.step(grad(loss, model.parameters()));
      sum += loss.item();
    }
    result.epochs.push_back(sum / static_cast<double>(steps));
  }
  // In use the text ends where the next token is to be written.
  const NoGrad off;
  constexpr std::int64_t end = length / 2;
  const Index next = text[{_, end}];
  result.whole = cross_entropy(model(text[{_, slice(0, length)}])[{_, end - 1}], next).item();
  result.prefixes = cross_entropy(model(text[{_, slice(0, end)}])[{_, -1}], next).item();
  return result;
}

double last(const Outcome& one) { return one.epochs.back(); }

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus({.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"});
  const Index text = sequences(corpus);
  std::vector<Options> all{{},
                           {.name = "layer norm, detached", .detached = true},
                           {.name = "batch norm", .over = Over::batch},
                           {.name = "batch norm, detached", .over = Over::batch, .detached = true},
                           {.name = "no causal mask", .causal = false}};
  std::vector<std::string> names;
  for (Options& options : all) {
    options.words = corpus.target_vocab().size();
    names.push_back(options.name);
  }
  std::cout << text.dim(0) << " sequences of " << length << " tokens of " << corpus.target_vocab().size() << ", "
            << config.epochs << " epochs, means of " << config.seeds << " seeds\n";
  const auto found = kit::trials(names, {example.seed, config.seeds},
                                 [&](std::size_t i, Seed seed) { return learn(config, text, all[i], seed); });
  kit::Table table({"", "loss", "read whole", "read as a prefix", "loss of each seed", "prefix of each seed"});
  std::vector<kit::Series> curves;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const kit::Trials<Outcome>& one = found[i];
    table.row({one.name, kit::fixed(one.mean(last), 3), kit::fixed(one.mean(&Outcome::whole), 3),
               kit::fixed(one.mean(&Outcome::prefixes), 3), one.each(last), one.each(&Outcome::prefixes)});
    if (all[i].causal) curves.push_back(one.curve(&Outcome::epochs));
  }
  std::cout << table.text();
  kit::save_text(
      example.out / "norms.svg",
      kit::line_plot(curves, {.title = str("Norms with and without the gradient of their statistics, mean of ",
                                           config.seeds, " seeds"),
                              .x_label = "epoch",
                              .y_label = "loss per token (nats)"}));
}

}  // namespace

int experiments::own_decoder(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.integer("--epochs", c.epochs, "times that every sequence is seen", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train everything so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "own_decoder", "A small language model with one part changed at a time.",
                           options, run);
}
