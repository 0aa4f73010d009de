// Utilities for examples that translate: the loss of a batch of pairs, and translations.
//
//     trainer.fit(batches, [&](const kit::CorpusBatch& batch) { return kit::translation_loss(model, corpus, batch); });
//     const auto found = kit::translations(model, corpus, corpus.held_out_sources());
//     const double bleu = kit::mean_bleu(found, corpus.held_out(), 2);
#pragma once

#include <vector>

#include <xgrad/kit/text/corpus.h>
#include <xgrad/nn/models/transformer.h>
#include <xgrad/ops/losses/loss.h>

namespace xgrad::kit {

/// The loss of each target token given the right ones before (teacher forcing), in nats per token, so that losses of
/// batches of any length compare. "Dive into Deep Learning" sums the means over all positions, padding included, as
/// examples/translate and examples/annotated_transformer do. The model is called as nn::EncoderDecoder and nn::Seq2Seq
/// are. Throws what it throws.
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

}  // namespace xgrad::kit
