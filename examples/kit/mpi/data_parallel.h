// Data parallel training: each rank has the same model and a part of every batch. The gradients of all ranks are summed
// while the backward pass still runs (Li et al. 2020, PyTorch's DistributedDataParallel; Sergeev, Del Balso 2018,
// Horovod).
//
//     mpi::DataParallel parallel{world, model, adam};
//     kit::DataLoader batches{data, {.batch_size = 64, .mine = world.shard()}};
//     for (const auto& [x, y] : batches) {
//       const Tensor loss = cross_entropy(model(x), y);
//       adam.step(parallel.grad(loss, {.weight = y.size()}));
//     }
//
// The result is the gradient of the mean over all samples of all ranks. Up to rounding, one rank with the whole batch
// computes the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/graph/tensor.h>
#include <xgrad/kit/mpi/world.h>
#include <xgrad/kit/train/gradients.h>
#include <xgrad/nn/module.h>
#include <xgrad/optim/optimizers/optimizer.h>

namespace xgrad::mpi {

struct DataParallelOptions {
  double first_bucket_mb = 1;  ///< size of the first block of gradients in MiB; small, so that sending starts early
  double bucket_mb = 25;
};

/// How far the exchange of gradients and the backward pass of a step overlapped in time.
struct ExchangeReport {
  int buckets = 0;
  int started_during_pass = 0;    ///< number of buckets that were sent before the last gradient rule ran
  int completed_during_pass = 0;  ///< number of buckets that were summed before the pass ended
  double milliseconds = 0;        ///< time in which at least one bucket was being exchanged
  double waited = 0;              ///< milliseconds from the end of the pass to the last sum
  /// The fraction of the time of communication in which the program computed.
  double hidden() const { return milliseconds > 0 ? 1 - waited / milliseconds : 0; }
};

/// The weight of a rank in the mean: the number of its samples, or of their tokens.
struct Weight {
  kit::Amount weight = 1;
};

/// Trains the parameters of a model on all ranks. The constructor copies parameters and buffers of rank 0 to all ranks.
/// Only the constructor and grad() communicate, so all ranks must call them in the same order.
///
/// After construction, the random numbers of a rank depend only on seed, step and rank. Batch norm uses the statistics
/// of its rank; running statistics are averaged over the ranks in every step. With one rank, gradients equal
/// xgrad::grad to the last bit.
///
/// Threads: only the main thread.
class DataParallel {
 public:
  using Options = DataParallelOptions;

  /// Gradients are in the order of the parameters of the optimizer. Throws ValueError for options out of range, and for
  /// a parameter of the optimizer that the model does not have. Throws it on all ranks if models, options, seeds or
  /// states of the optimizers differ.
  DataParallel(World& world, const nn::Module& model, optim::Optimizer& optimizer, const Options& options = {});
  /// Gradients are in the order of model.parameters(). Throws the same errors.
  DataParallel(World& world, const nn::Module& model, const Options& options = {});
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;
  ~DataParallel();

  /// The gradients of the weighted mean of the losses of all ranks, g = sum_r w_r g_r / sum_r w_r. The loss of a rank
  /// is the mean over its samples. The gradient is 0 for a parameter that no loss depends on, and undefined for a
  /// frozen parameter. A rank without samples passes weight 0, and its loss may be undefined. Hooks of parameters and
  /// modules get the gradients g_r of their rank. Throws ValueError for a weight that is negative or not finite, and if
  /// all weights are 0. Throws ShapeError for a loss with more than one element, and what xgrad::grad throws.
  Tensors grad(const Tensor& loss, const Weight& weight = {});

  /// The function by which a kit::Trainer computes gradients: `{.gradients = parallel.for_trainer()}`. The gradients of
  /// every batch are exchanged. The random numbers of a batch depend on its number, so a resumed training draws the
  /// same ones. A batch with weight 0 on all ranks is skipped. All ranks must stop after the same step.
  kit::GradientFunction for_trainer();

  /// Loss and weight of the last grad() over all ranks: the weighted mean of the losses, and the sum of the weights.
  double loss() const { return loss_; }
  double weight() const { return weight_; }
  /// A report about the exchange in the last grad().
  const ExchangeReport& exchange() const { return report_; }

  /// Compares a text, for example the name of the data set, in the next grad(), which throws ValueError on all ranks if
  /// the text differs between ranks.
  void agree(std::string_view what, const std::string& text);

  /// The number of steps so far, on which random numbers depend. For a resumed training set it with go_to().
  std::int64_t steps() const { return steps_; }
  void go_to(std::int64_t step);

 private:
  class Exchange;

  DataParallel(World& world, const nn::Module& model, optim::Optimizer* optimizer, const Options& options);
  bool alone() const { return world_.ranks() == 1; }
  RandomState random_of_step() const;
  void lay_out(const std::vector<std::int64_t>& order);
  Tensors weighted_mean(const Tensor& loss, const Weight& weight);
  void differentiate(const Tensor& loss, Real weight);
  void hand_over(std::size_t i, const Array& gradient, Real weight);
  void merge_buffers(bool ran, double ranks_that_ran);

  World& world_;
  const Options options_;
  const Tensors parameters_, buffers_;
  const RandomState seed_;
  std::vector<Array> common_buffers_;  // the buffers of all ranks after the last step
  std::vector<std::pair<std::string, std::string>> to_agree_;
  std::unique_ptr<Exchange> exchange_;
  std::vector<std::int64_t> begins_;  // where each gradient begins in the exchange
  std::vector<std::int64_t> order_;   // the order in which gradients became complete in the first step
  bool laid_out_ = false;             // whether the exchange has this order
  std::int64_t steps_ = 0;
  double loss_ = 0, weight_ = 0;
  ExchangeReport report_;

  // Of the step in progress.
  std::vector<bool> handed_;  // whether each gradient is in the exchange
  Tensors result_;
};

}  // namespace xgrad::mpi
