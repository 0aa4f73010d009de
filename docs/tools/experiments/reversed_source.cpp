// Does a recurrent translator learn better from reversed sources (Sutskever, Vinyals, Le 2014), and what is left of that
// with attention? Measured on copying, by length, and on English to French.
//
//   docs/tools/run reversed_source [--steps N] [--epochs N] [--seeds N] [--out FOLDER] ...
#include <array>
#include <iostream>
#include <random>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/kit/train/trials.h>
#include <xgrad/xgrad.h>

#include "experiments.h"

namespace {

using namespace xgrad;

struct Config {
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  std::int64_t steps = 1500;  // of training to copy
  std::int64_t epochs = 100;  // of training to translate
  std::int64_t seeds = 5;
};

struct Variant {
  const char* name;
  nn::Context context;
  bool reversed;
};
constexpr std::array<Variant, 4> variants{{{"one state", nn::Context::initial_state, false},
                                           {"one state, reversed", nn::Context::initial_state, true},
                                           {"attention", nn::Context::attention, false},
                                           {"attention, reversed", nn::Context::attention, true}}};

// ---- Copying: the target is the source ------------------------------------------------------------------------------

constexpr std::int64_t symbols = 8, bos = symbols, copied = 32, shortest = 5, longest = 40;
constexpr std::array<std::int64_t, 4> test_lengths{5, 10, 20, 40};

// A batch of random sequences of one length, (B, length).
Index sequences(std::int64_t length, std::mt19937_64& random) {
  Index ids(Shape{copied, length});
  for (std::int64_t i = 0; i < ids.size(); ++i) ids.mutable_data()[i] = static_cast<std::int64_t>(random() % symbols);
  return ids;
}

Tensor logits_of(const nn::Seq2Seq& model, const Index& ids) {
  return model(ids, Index(Shape{copied}, ids.dim(1)), nn::shift_right(ids, bos));
}

// The part of the symbols that greedy decoding copies right, for each of test_lengths.
std::vector<double> copied_right(const nn::Seq2Seq& model) {
  const nn::Eval eval(model);
  std::mt19937_64 random(0);
  std::vector<double> right;
  for (const std::int64_t length : test_lengths) {
    const Index ids = sequences(length, random);
    auto decoding = model.start(ids, Index(Shape{copied}, length));
    Index next(Shape{copied}, bos);
    std::int64_t hits = 0;
    for (std::int64_t t = 0; t < length; ++t) {
      next = argmax(decoding.step(next), -1);
      for (std::int64_t b = 0; b < copied; ++b) hits += next.at({b}) == ids.at({b, t});
    }
    right.push_back(static_cast<double>(hits) / static_cast<double>(copied * length));
  }
  return right;
}

std::vector<double> learn_to_copy(const Config& config, const Variant& variant, Seed seed) {
  const nn::Seq2Seq model{nn::root, symbols, symbols + 1,
                          {.context = variant.context, .embed = 32, .hidden = 64, .layers = 1,
                           .reverse_source = variant.reversed}};
  const Tensors parameters = model.parameters();
  optim::Adam adam{parameters, {.lr = 0.003}};
  std::mt19937_64 random(seed);
  for (std::int64_t step = 0; step < config.steps; ++step) {
    const auto span = static_cast<std::uint64_t>(longest - shortest + 1);
    const Index ids = sequences(shortest + static_cast<std::int64_t>(random() % span), random);
    const Tensors gradients = grad(cross_entropy(logits_of(model, ids), ids), parameters);
    adam.step(optim::clip_grad_norm(gradients, parameters, 1).gradients);
  }
  return copied_right(model);
}

// ---- Translating ----------------------------------------------------------------------------------------------------

struct Translated {
  double loss, bleu;
};
Translated learn_to_translate(const Config& config, const kit::Corpus& corpus, const Variant& variant, Seed seed) {
  const nn::Seq2Seq model{nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                          {.context = variant.context, .reverse_source = variant.reversed}};
  optim::Adam adam{model.parameters(), {.lr = 0.005}};
  kit::DataLoader batches{corpus, {.batch_size = 64, .shuffle = true, .seed = seed}};
  kit::Trainer trainer{model, adam, {.epochs = config.epochs, .max_norm = 1, .terminal = {}}};
  trainer.fit(batches, [&](const kit::CorpusBatch& batch) { return kit::translation_loss(model, corpus, batch); });
  const nn::Eval eval(model);
  const auto guesses = kit::translations(model, corpus, corpus.held_out_sources());
  return {trainer.history().back().loss, kit::mean_bleu(guesses, corpus.held_out(), 2)};
}

// ---- All --------------------------------------------------------------------------------------------------------------

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  std::vector<kit::Field> head{"copying, symbols right"};
  for (const std::int64_t length : test_lengths) head.push_back(str("length ", length));
  head.push_back(str("length ", test_lengths.back(), " of each seed"));
  kit::Table copying(head), translating({"translating", "loss", "held-out BLEU", "BLEU of each seed"});
  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  const kit::Seeds seeds{example.seed, config.seeds};
  const auto copied = kit::trials(
      names, seeds, [&](std::size_t v, Seed seed) { return learn_to_copy(config, variants[v], seed); });
  const auto translated = kit::trials(
      names, seeds, [&](std::size_t v, Seed seed) { return learn_to_translate(config, corpus, variants[v], seed); });
  const auto longest_right = [](const std::vector<double>& right) { return right.back(); };
  std::vector<kit::Series> curves;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    kit::Series curve = copied[v].curve(std::identity());
    curve.x = {test_lengths.begin(), test_lengths.end()};
    curve.style = kit::Series::Style::marked;
    std::vector<kit::Field> cells{names[v]};
    for (const double right : curve.y) cells.push_back(kit::fixed(right, 3));
    cells.push_back(copied[v].each(longest_right));
    copying.row(cells);
    const std::string bleu = kit::fixed(translated[v].mean(&Translated::bleu), 3);
    translating.row({names[v], kit::fixed(translated[v].mean(&Translated::loss), 4), bleu,
                     translated[v].each(&Translated::bleu)});
    const auto name = str(variants[v].context == nn::Context::attention ? "attention" : "state",
                          variants[v].reversed ? "_reversed" : "");
    example.result.add(str(name, "_copy"), kit::fixed(curve.y.back(), 3));
    example.result.add(str(name, "_bleu"), bleu);
    curves.push_back(curve);
  }
  std::cout << copying.text() << "\n" << translating.text();
  kit::save(example.out / "copying.svg",
            kit::line_plot(curves, {.title = str("Copying, mean of ", config.seeds, " seeds"),
                                    .x_label = "symbols of the sequence",
                                    .y_label = "copied right",
                                    .y_limits = kit::Limits{0, 1}}));
}

}  // namespace

int experiments::reversed_source(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--steps", c.steps, "of training to copy", 1, 1'000'000);
    o.integer("--epochs", c.epochs, "of training to translate", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train everything so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "reversed_source",
                           "Recurrent networks that copy and translate, with and without a reversed source.", options,
                           run);
}
