// The tenth block: training on pairs of sentences.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/text/corpus.h>

#include "model.h"

namespace annotated {

// -- 10. Training -----------------------------------------------------------------------------------------------------

struct Training {
  std::int64_t epochs = 200;
  std::int64_t batch = 64;  // B
  double learning_rate = 0.005;
  Seed seed = 1;                                                       // for the order of the pairs
  std::function<void(std::int64_t epoch, double loss)> on_epoch = {};  // called after each epoch
};

/// The cross-entropy of each sentence, where padding counts 0: the mean over T positions, summed over B sentences.
inline Tensor batch_loss(const Transformer& model, const kit::Corpus& data, const kit::CorpusBatch& batch) {
  const std::int64_t B = batch.target.dim(0), T = batch.target.dim(1);
  const Index before = concat({Index({B, 1}, data.bos()), batch.target[{_, slice(0, T - 1)}]}, 1);
  const Tensor logits = model(batch.source, batch.source_lengths, before);  // (B, T, V)
  const Tensor sum = cross_entropy(logits, batch.target, {.ignore_index = data.pad(), .reduction = Reduction::sum});
  return sum / T;
}

/// The loss of each epoch, divided by the number of words.
inline std::vector<double> train(const Transformer& model, const kit::Corpus& data, const Training& training) {
  model.apply<nn::Linear>([](const nn::Linear& map) { nn::init::reset(map.weight, nn::init::xavier_uniform()); });
  const Tensors parameters = model.parameters();
  optim::Adam adam{parameters, {.lr = training.learning_rate}};
  kit::DataLoader batches{data, {.batch_size = training.batch, .shuffle = true, .seed = training.seed}};
  std::vector<double> losses;
  for (std::int64_t epoch = 1; epoch <= training.epochs; ++epoch) {
    double sum = 0;
    for (const kit::CorpusBatch& batch : batches) {
      const Tensor loss = batch_loss(model, data, batch);
      const Tensors gradients = grad(loss, parameters);
      adam.step(optim::clip_grad_norm(gradients, parameters, 1).gradients);
      sum += loss.item() / static_cast<double>(batch.tokens);
    }
    losses.push_back(sum / static_cast<double>(batches.size()));
    if (training.on_epoch) training.on_epoch(epoch, losses.back());
  }
  return losses;
}

}  // namespace annotated
