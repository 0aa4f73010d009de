// Utilities for examples that compare translators: training on pairs of sentences, and translating.
//
//     const auto history = kit::train_translator(model, corpus, {.epochs = 100, .seed = 1});
//     const auto found = kit::translations(model, corpus, corpus.held_out_sources());
//     const double bleu = kit::mean_bleu(found, corpus.held_out(), 2);
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/nn/models/transformer.h>
#include <xgrad/ops/losses/loss.h>
#include <xgrad/optim/optimizers/adam.h>

namespace xgrad::kit {

/// The loss of each target token given the right ones before (teacher forcing), in nats per token. The model is called
/// as nn::EncoderDecoder and nn::Seq2Seq are. Throws what it throws.
template <class Model>
Tensor translation_loss(const Model& model, const Corpus& corpus, const CorpusBatch& batch) {
  const Tensor logits = model(batch.source, batch.source_lengths, nn::shift_right(batch.target, corpus.bos()));
  return cross_entropy(logits, batch.target, {.ignore_index = corpus.pad()});  // (B, T, V), (B, T)
}

/// Greedy translations by an nn::EncoderDecoder or an nn::Seq2Seq, each as long as a source sentence may be. Throws
/// what the model throws.
template <class Model>
std::vector<Tokens> translations(const Model& model, const Corpus& corpus, const std::vector<Tokens>& sentences) {
  if (sentences.empty()) return {};
  const CorpusBatch batch = corpus.sources(sentences);
  auto writing = model.start(batch.source, batch.source_lengths);
  const nn::GreedyOptions options{.bos = corpus.bos(), .eos = corpus.eos(), .max_length = batch.source.dim(1)};
  return corpus.sentences(nn::greedy(writing, options).tokens);
}

/// The first weights of "Dive into Deep Learning": those of every linear map are uniform in +-sqrt(6 / (in + out)).
inline void reset_to_xavier(const nn::Module& model) {
  model.apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
}

struct TranslatorOptions {
  std::int64_t epochs = 200;
  std::int64_t batch = 64;
  double lr = 0.005;                             ///< of Adam
  std::optional<optim::Schedule> schedule = {};  ///< of its rate
  double max_norm = 1;
  Seed seed = 1;  ///< of the order of the pairs
  EpochCallback on_epoch = {};
  Terminal terminal = Terminal::standard_error();
};
/// Trains a model on the pairs of a corpus by Adam, with a loss that is a function of a CorpusBatch. Throws as the
/// Trainer and the DataLoader.
template <class Loss>
std::vector<EpochReport> train_translator(const nn::Module& model, const Corpus& corpus,
                                          const TranslatorOptions& options, const Loss& loss) {
  optim::Adam adam{model.parameters(), {.lr = options.lr}};
  DataLoader batches{corpus, {.batch_size = options.batch, .shuffle = true, .seed = options.seed}};
  Trainer trainer{model,
                  adam,
                  {.epochs = options.epochs,
                   .schedule = options.schedule,
                   .max_norm = options.max_norm,
                   .on_epoch = options.on_epoch,
                   .terminal = options.terminal}};
  return trainer.fit(batches, loss);
}
/// The same with translation_loss.
template <class Model>
std::vector<EpochReport> train_translator(const Model& model, const Corpus& corpus, const TranslatorOptions& options) {
  return train_translator(model, corpus, options,
                          [&](const CorpusBatch& batch) { return translation_loss(model, corpus, batch); });
}

}  // namespace xgrad::kit
