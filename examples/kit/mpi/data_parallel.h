// Data parallel training: each rank has the same model and a part of every batch, and their gradients are added up
// while the backward pass still runs. As PyTorch's DistributedDataParallel (Li et al. 2020) and Horovod (Sergeev, Del
// Balso 2018).
//
//     mpi::DataParallel parallel{world, model, adam};
//     kit::DataLoader batches{data, {.batch_size = 64, .mine = world.shard()}};
//     for (const auto& [x, y] : batches) {
//       const Tensor loss = cross_entropy(model(x), y);
//       adam.step(parallel.grad(loss, {.weight = y.size()}));
//     }
//
// The mean over all samples of all ranks is what one rank would have of the whole batch, but for rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/graph/tensor.h>
#include <xgrad/kit/mpi/exchange.h>
#include <xgrad/kit/mpi/world.h>
#include <xgrad/kit/train/gradients.h>
#include <xgrad/nn/module.h>
#include <xgrad/optim/optimizers/optimizer.h>

namespace xgrad::mpi {

struct DataParallelOptions {
  double first_bucket_mb = 1;  ///< MiB of gradients that are sent together: small at first, so that it begins early
  double bucket_mb = 25;
};

/// The weight of a rank in the mean: the number of its samples, or of their tokens.
struct Weight {
  kit::Amount weight = 1;
};

/// The parameters of a model that all ranks train together. The constructor gives parameters and buffers of rank 0 to
/// all ranks. Only the constructor and grad() communicate, so all ranks call them in the same order.
///
/// Afterwards the random numbers of a rank depend on seed, step and rank alone. Batch normalisation uses the statistics
/// of a rank; running statistics are averaged over the ranks in every step. One rank gives the bits of xgrad::grad.
///
/// Threads: the main thread alone.
class DataParallel {
 public:
  using Options = DataParallelOptions;

  /// Gradients come in the order of the optimizer's parameters. Throws ValueError for numbers out of their range, for a
  /// parameter of the optimizer that is none of the model's, and on all ranks if their models, options, seeds or states
  /// of the optimizer differ.
  DataParallel(World& world, const nn::Module& model, optim::Optimizer& optimizer, const Options& options = {});
  /// Gradients come in the order of model.parameters(). Throws as above.
  DataParallel(World& world, const nn::Module& model, const Options& options = {});
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// The gradients of the weighted mean of all ranks' losses, g = sum_r w_r g_r / sum_r w_r; a rank's loss is the mean
  /// over its samples. Zeros for a parameter that no loss depends on; undefined for one that is frozen. A rank without
  /// samples gives weight 0 and may leave its loss undefined. Hooks of parameters and modules see the gradients g_r of
  /// their rank. Throws ValueError for a weight that is negative or not
  /// finite, and if all are 0; ShapeError for a loss that is not one number; as xgrad::grad.
  Tensors grad(const Tensor& loss, const Weight& weight = {});

  /// How a kit::Trainer makes gradients: `{.gradients = parallel.for_trainer()}`. Every batch is exchanged; its random
  /// numbers follow from its number, so that a training that is resumed draws them again. A batch of weight 0 on all
  /// ranks is left out. All ranks must stop behind the same step.
  kit::GradientFunction for_trainer();

  /// Loss and weight of the last grad() over all ranks: the weighted mean of the losses, and the sum of the weights.
  double loss() const { return loss_; }
  double weight() const { return weight_; }
  /// How the exchange of the last grad() went.
  const ExchangeReport& exchange() const { return report_; }

  /// The next grad() throws ValueError on all ranks if this text differs between them: for the data set, say.
  void agree(std::string_view what, const std::string& text);

  /// The number of steps made, on which random numbers depend; go_to() is for a training that is resumed.
  std::int64_t steps() const { return steps_; }
  void go_to(std::int64_t step);

 private:
  class Progress;
  // Numbers of the exchange.
  struct Range {
    std::int64_t begin, size;
  };

  DataParallel(World& world, const nn::Module& model, optim::Optimizer* optimizer, const Options& options);
  bool alone() const { return world_.ranks() == 1; }
  RandomState random_of_step() const;
  std::string fingerprint() const;
  void send_all_from_first();
  void lay_out(const std::vector<std::int64_t>& order);
  Tensors weighted_mean(const Tensor& loss, const Weight& weight);
  void differentiate(const Tensor& loss, Real weight);
  void hand_over(std::size_t i, const Array& gradient, Real weight);
  void merge_buffers(bool ran, double ranks_that_ran);

  World& world_;
  const nn::Module& model_;
  const Options options_;
  const Tensors parameters_;
  const RandomState seed_;
  Tensors averaged_, copied_;                           // buffers of real numbers and of integers
  std::vector<Array> common_averaged_, common_copied_;  // as all ranks had them behind the last step
  std::vector<std::pair<std::string, std::string>> to_agree_;
  std::optional<detail::Exchange> exchange_;
  std::vector<Range> places_;        // of gradients in the exchange
  std::vector<std::int64_t> order_;  // in which gradients became complete in the first step
  bool laid_out_ = false;            // by that order
  std::int64_t steps_ = 0;
  double loss_ = 0, weight_ = 0;
  ExchangeReport report_;

  // Of the step in progress.
  std::vector<bool> handed_;  // to the exchange
  Tensors result_;
};

}  // namespace xgrad::mpi
