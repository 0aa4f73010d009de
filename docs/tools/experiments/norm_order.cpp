// The place of the layer norm: post-norm and pre-norm transformers, each with and without warm-up of the learning rate
// (Xiong et al., "On Layer Normalization in the Transformer Architecture", 2020).
//
//   docs/tools/run norm_order [--layers N] [--lr RATE] [--warmup STEPS] [--epochs N] [--seeds N] [--out FOLDER] ...
#include <algorithm>
#include <cmath>
#include <iostream>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/program/table.h>
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

  std::int64_t dim = 32;  // C
  std::int64_t hidden = 64;
  std::int64_t heads = 4;
  std::int64_t layers = 6;  // of the encoder, and of the decoder

  std::int64_t epochs = 60;
  double learning_rate = 0.004;
  std::int64_t warmup = 200;  // steps
  std::int64_t seeds = 5;
};

struct Variant {
  const char* name;
  nn::NormOrder order;
  bool warmup;
};
constexpr std::array<Variant, 4> variants{{{"post-norm", nn::NormOrder::post, false},
                                           {"post-norm, warm-up", nn::NormOrder::post, true},
                                           {"pre-norm", nn::NormOrder::pre, false},
                                           {"pre-norm, warm-up", nn::NormOrder::pre, true}}};

/// Without dropout, so that the training loss shows how well the model can be trained at all.
nn::TransformerOptions transformer_options(const Config& config, nn::NormOrder order) {
  return {.dim = config.dim,
          .ffn = config.hidden,
          .heads = config.heads,
          .layers = config.layers,
          .dropout = 0,
          .norm = order,
          .max_length = config.corpus.steps + 1};
}

/// The loss of a model that knows nothing but how frequent words are: their entropy.
double frequencies_alone(const kit::Corpus& corpus) {
  std::vector<double> counts(static_cast<std::size_t>(corpus.target_vocab().size()));
  double total = 0, entropy = 0;
  for (const std::int64_t id : corpus.batch(arange(corpus.size())).target) {
    if (id == corpus.pad()) continue;
    ++counts[static_cast<std::size_t>(id)];
    ++total;
  }
  for (const double count : counts) {
    if (count > 0) entropy -= count / total * std::log(count / total);
  }
  return entropy;
}

/// The mean loss of every epoch.
std::vector<double> train(const Config& config, const kit::Corpus& corpus, const Variant& variant, Seed seed) {
  const nn::EncoderDecoder model{nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                                 transformer_options(config, variant.order)};
  kit::reset_to_xavier(model);
  optim::Adam adam{model.parameters(), {.lr = config.learning_rate}};
  kit::DataLoader batches{corpus, {.batch_size = 64, .shuffle = true, .seed = seed}};
  kit::Trainer trainer{model,
                       adam,
                       {.epochs = config.epochs,
                        .schedule = optim::schedule::warmup(variant.warmup ? config.warmup : 1),
                        .terminal = {}}};
  std::vector<double> losses;
  for (const kit::Report& epoch : trainer.fit(batches, [&](const kit::CorpusBatch& batch) {
         return kit::translation_loss(model, corpus, batch);
       })) {
    losses.push_back(epoch.loss);
  }
  return losses;
}

/// The norm of the first gradient in every decoder block: of the second feed-forward matrix.
kit::Series first_gradients(const Config& config, const kit::Corpus& corpus, const char* name, nn::NormOrder order) {
  manual_seed(1);
  const nn::EncoderDecoder model{nn::root, corpus.source_vocab().size(), corpus.target_vocab().size(),
                                 transformer_options(config, order)};
  kit::reset_to_xavier(model);
  const Tensor loss =
      kit::translation_loss(model, corpus, corpus.batch(arange(std::min<std::int64_t>(64, corpus.size()))));
  kit::Series series{.name = name, .style = kit::Series::Style::marked};
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const Tensor g = grad(loss, {model.decoder.blocks[i].ffn.fc2.weight}, {.retain_graph = true})[0];
    series.y.push_back(std::sqrt(sum(g * g).item()));
  }
  return series;
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus corpus(config.corpus);
  std::cout << config.layers << " + " << config.layers << " layers, Adam with rate " << config.learning_rate
            << ", warm-up over " << config.warmup << " steps; loss per token in the last of " << config.epochs
            << " epochs\n";

  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  const auto found = kit::trials(names, {example.seed, config.seeds}, [&](std::size_t v, Seed seed) {
    return train(config, corpus, variants[v], seed);
  });
  std::vector<kit::Series> curves;
  for (const auto& one : found) curves.push_back(one.curve(std::identity()));

  const double guess = frequencies_alone(corpus);
  curves.push_back({.name = "word frequencies alone",
                    .x = {1, static_cast<double>(config.epochs)},
                    .y = {guess, guess},
                    .style = kit::Series::Style::dashed});

  kit::Table table({"", "loss", "of each seed"});
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const std::string mean = kit::fixed(curves[v].y.back(), 3);
    table.row({names[v], mean, found[v].each([](const std::vector<double>& losses) { return losses.back(); })});
    example.result.add(str("loss", v + 1), mean);
  }
  std::cout << "(word frequencies alone: " << kit::fixed(guess, 3) << ")\n" << table.text();

  kit::save(example.out / "loss.svg",
            kit::line_plot(curves, {.title = str("Post-norm and pre-norm, mean of ", config.seeds, " seeds"),
                                    .x_label = "epoch",
                                    .y_label = "loss per target token (nats)",
                                    .y_scale = kit::Scale::log}));
  kit::save(example.out / "gradients.svg",
            kit::line_plot({first_gradients(config, corpus, "post-norm", nn::NormOrder::post),
                            first_gradients(config, corpus, "pre-norm", nn::NormOrder::pre)},
                           {.title = "The first gradient of each decoder block",
                            .x_label = "block",
                            .y_label = "norm of the gradient of the second feed-forward matrix",
                            .y_scale = kit::Scale::log}));
}

}  // namespace

int experiments::norm_order(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    kit::add_corpus_options(o, c.corpus);
    o.integer("--layers", c.layers, "of the encoder, and of the decoder", 1, 1000);
    o.real("--lr", c.learning_rate, "learning rate after the warm-up", 1e-9, 1000);
    o.integer("--warmup", c.warmup, "steps", 1, 1'000'000);
    o.integer("--epochs", c.epochs, "times that every pair is seen", 1, 1'000'000);
    o.integer("--seeds", c.seeds, "train everything so many times", 1, 1000);
  };
  return kit::main<Config>(argc, argv, "norm_order",
                           "Post-norm and pre-norm transformers, each with and without warm-up.", options, run);
}
