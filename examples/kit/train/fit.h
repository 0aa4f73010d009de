// Training in one line: shuffled batches of arrays in memory, AdamW, and the usual loss.
//
//     kit::fit(net, x, labels, {.epochs = 20});
#pragma once

#include <xgrad/kit/data/data_loader.h>
#include <xgrad/kit/train/trainer.h>
#include <xgrad/ops/losses/distance_loss.h>
#include <xgrad/ops/losses/loss.h>
#include <xgrad/optim/optimizers/adam.h>

namespace xgrad::kit {

/// The loss of class numbers is cross_entropy, that of real numbers mse_loss.
struct UsualLoss {
  Tensor operator()(const Tensor& output, const Index& label) const { return cross_entropy(output, label); }
  Tensor operator()(const Tensor& output, const Tensor& y) const { return mse_loss(output, y); }
};

struct FitOptions {
  std::int64_t epochs = 10;
  std::int64_t batch_size = 32;
  double lr = 1e-3;
  double weight_decay = 0.01;
  Seed seed = 0;  ///< of the order of the samples
  Terminal terminal = Terminal::standard_error();
};
/// Trains a model to answer row i of x with row i of y, and returns the reports of all epochs. The loss is a function
/// of model(x) and y of a batch. Throws ValueError unless x and y have as many rows, and as Trainer::fit.
template <class Model, class Y, class Loss = UsualLoss>
std::vector<EpochReport> fit(const Model& model, const Tensor& x, const Y& y, const FitOptions& options = {},
                             const Loss& loss = {}) {
  optim::AdamW adam{model.parameters(), {.lr = options.lr, .weight_decay = options.weight_decay}};
  DataLoader batches{TensorDataset{x, y}, {.batch_size = options.batch_size, .shuffle = true, .seed = options.seed}};
  Trainer trainer{model, adam, {.epochs = options.epochs, .terminal = options.terminal}};
  return trainer.fit(batches, [&](const Tensor& part, const Y& answer) { return loss(model(part), answer); });
}

}  // namespace xgrad::kit
