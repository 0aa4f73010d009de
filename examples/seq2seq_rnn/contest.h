// The contest: five models, trained and judged alike.
#pragma once

#include <array>
#include <chrono>
#include <vector>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/kit/train/translation.h>
#include <xgrad/xgrad.h>

namespace seq2seq_rnn {

using namespace xgrad;

struct Config {
  // the first 600 pairs of the file, 10 tokens each, words seen once unknown
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};

  // recurrent models; the transformer is that of examples/translate
  nn::Seq2SeqOptions recurrent{.embed = 32, .hidden = 32, .layers = 2, .dropout = 0.1};

  // training, the same for all
  std::int64_t epochs = 100;
  std::int64_t batch = 64;  // B
  double learning_rate = 0.005;
  std::int64_t seeds = 3;  // train each model so many times
};

constexpr int bleu_order = 2;

// ---- One model ------------------------------------------------------------------------------------------------------

/// The result of training one model.
struct Trial {
  std::int64_t parameters = 0;
  double seconds = 0;
  std::vector<double> losses = {};        // of every epoch, per target token
  std::vector<kit::Tokens> guesses = {};  // for the sentences held out
  double bleu = 0;                        // of these
};

/// Trains a model and lets it translate the sentences held out.
template <class Model>
Trial train(const Config& config, const kit::Corpus& corpus, const Model& model, Seed seed) {
  Trial trial{.parameters = model.num_parameters()};
  const auto begin = std::chrono::steady_clock::now();
  optim::Adam adam{model.parameters(), {.lr = config.learning_rate}};
  kit::DataLoader batches{corpus, {.batch_size = config.batch, .shuffle = true, .seed = seed}};
  kit::Trainer trainer{model, adam, {.epochs = config.epochs, .max_norm = 1, .terminal = {}}};
  trainer.fit(batches, [&](const kit::CorpusBatch& batch) { return kit::translation_loss(model, corpus, batch); });
  for (const kit::Report& epoch : trainer.history()) trial.losses.push_back(epoch.loss);
  trial.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  trial.guesses = kit::translations(model, corpus, corpus.held_out_sources());
  trial.bleu = kit::mean_bleu(trial.guesses, corpus.held_out(), bleu_order);
  return trial;
}

// ---- The contestants ------------------------------------------------------------------------------------------------

struct Contestant {
  const char* name;
  const char* what;
};
constexpr std::array<Contestant, 5> contestants{{{"every_step", "last state beside every input"},
                                                 {"mean", "mean of all states beside every input"},
                                                 {"initial_state", "last state first, source reversed"},
                                                 {"attention", "additive"},
                                                 {"transformer", "of examples/translate"}}};

inline nn::Seq2SeqOptions recurrent_options(const Config& config, std::size_t contestant) {
  constexpr std::array contexts{nn::Context::every_step, nn::Context::mean, nn::Context::initial_state,
                                nn::Context::attention};
  nn::Seq2SeqOptions options = config.recurrent;
  options.context = contexts.at(contestant);
  options.reverse_source = options.context == nn::Context::initial_state;
  return options;
}

}  // namespace seq2seq_rnn
