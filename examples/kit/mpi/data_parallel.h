// Data parallel training: each rank has the same model and a part of every batch, and their gradients are added up
// while the backward pass still runs. As PyTorch's DistributedDataParallel (Li et al. 2020) and Horovod (Sergeev, Del
// Balso 2018).
//
//     mpi::DataParallel parallel{world, model, adam};
//     kit::DataLoader batches{data, {.batch_size = 64, .mine = world.share()}};
//     for (const auto& [x, y] : batches) {
//       const Tensor loss = cross_entropy(model(x), y);
//       parallel.step(parallel.grad(loss, {.weight = y.size()}));
//     }
//
// Two promises. The mean over all samples of all ranks is what one rank would have of the whole batch, but for
// rounding. With `.parts = P` the bits are the same for 1, 2, ..., P ranks and any number of threads, on one build and
// one kind of processor: the batch of all ranks is cut into P runs of consecutive samples, each is run and
// differentiated alone, and everything is added by the binary tree over their numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/files/state.h>
#include <xgrad/core/graph/tensor.h>
#include <xgrad/kit/mpi/exchange.h>
#include <xgrad/kit/mpi/rows.h>
#include <xgrad/kit/mpi/world.h>
#include <xgrad/kit/train/gradients.h>
#include <xgrad/nn/module.h>
#include <xgrad/optim/optimizers/optimizer.h>

namespace xgrad::mpi {

struct DataParallelOptions {
  /// Into how many runs of samples the batch of all ranks is cut, a power of two that the number of ranks divides. 0:
  /// one for each rank, and gradients are added in whatever order is fastest.
  std::int64_t parts = 0;
  /// Gradients are a weighted mean over the parts. false: a sum, for losses that are sums themselves.
  bool mean = true;
  /// Gradients travel as bfloat16, half as many bytes, and are added as Real. For a power of two of ranks, without
  /// .parts.
  bool bfloat16 = false;
  /// Each rank keeps the optimizer's state of its share of the parameters alone (ZeRO, stage 1; Rajbhandari et al.
  /// 2020): whole tensors, the largest first. Takes step(), state_dict() and load_state_dict() of DataParallel.
  bool shard_state = false;
  /// Gradients travel while the backward pass runs. false: behind it; the results are the same.
  bool overlap = true;
  double first_bucket_mb = 1;  ///< MiB of gradients that are sent together: small at first, so that it begins early
  double bucket_mb = 25;
};

/// The weight of a part in the mean: the number of its samples, or of their tokens.
struct Weight {
  kit::Amount weight = 1;
};

/// The parameters of a model that all ranks train together. The constructor gives parameters, buffers and the
/// optimizer's state of rank 0 to all ranks. The constructor, grad(), step() and state_dict() communicate, so all ranks
/// call them in the same order; nothing else does, and grad() and backward() of the library never do.
///
/// From then on each rank draws random numbers of its own, those of dropout by the seed, the step and the part alone.
/// Batch normalisation uses the statistics of a part; running statistics are averaged over the parts in every step.
/// (Statistics over all ranks are not offered: each layer would have to communicate twice within the forward pass,
/// where nothing can hide it.) A world of one without parts is the library alone: its bits are those of xgrad::grad.
///
/// Threads: the main thread alone.
class DataParallel {
 public:
  using Options = DataParallelOptions;

  /// Gradients come in the order of the optimizer's parameters. Throws ValueError for numbers out of their range, for
  /// parts that are no power of two or that the ranks do not divide, for bfloat16 with .parts or with ranks that are no
  /// power of two, for a parameter of the optimizer that is none of the model's, and on all ranks if their models,
  /// options or seeds differ.
  DataParallel(World& world, const nn::Module& model, optim::Optimizer& optimizer, const Options& options = {});
  /// Gradients come in the order of model.parameters(). Throws as above, and ValueError for .shard_state.
  DataParallel(World& world, const nn::Module& model, const Options& options = {});
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// The gradients of the weighted mean of all ranks' losses, g = sum_r w_r g_r / sum_r w_r; a rank's loss is the mean
  /// over its samples. Zeros for a parameter that no loss depends on; undefined for one that is frozen. A rank without
  /// samples gives weight 0 and may leave its loss undefined. Throws ValueError for a weight that is negative or not
  /// finite, if all are 0, and if .parts asks for more than one part a rank; ShapeError for a loss that is not one
  /// number; as xgrad::grad.
  Tensors grad(const Tensor& loss, const Weight& weight = {});

  /// The same, part by part: `f(part)` is called once for each part of this rank's batch and returns a
  /// kit::WeightedLoss, or a Tensor, which counts as many samples as the part has. Parts without samples are left out.
  template <class Batch, class F>
  Tensors grad(const Batch& batch, const F& f) {
    const std::int64_t samples = detail::samples_of(batch), mine = parts_here();
    begin();
    for (std::int64_t p = 0; p < mine; ++p) {
      const std::int64_t first = part_begin(samples, mine, p), last = part_begin(samples, mine, p + 1);
      if (first == last) {
        empty_part(p);
        continue;
      }
      std::optional<PartRandomness> random;
      if (!alone()) random.emplace(*this, p);
      const auto loss = f(first == 0 && last == samples ? batch : detail::rows_of(batch, first, last));
      if constexpr (std::convertible_to<decltype(loss), Tensor>) {
        part(p, {loss, last - first});
      } else {
        part(p, loss);
      }
    }
    return finish();
  }

  /// Adds this rank's gradients of a loss to those that the next grad() will exchange, and does not communicate:
  /// gradient accumulation. Throws as grad(loss), and ValueError with .parts, which run a batch piece by piece anyway.
  void accumulate(const Tensor& loss, const Weight& weight = {});

  /// How a kit::Trainer makes gradients: `{.gradients = parallel.for_trainer()}`. Every batch is exchanged; its random
  /// numbers follow from its number, so that a training that is resumed draws them again. All ranks must stop behind
  /// the same step. Throws ValueError with .shard_state, whose step is that of DataParallel.
  kit::GradientFunction for_trainer();

  /// The optimizer's step, and with .shard_state the exchange of the parameters that it changed. Throws ValueError if
  /// there is no optimizer, and as Optimizer::step.
  optim::StepReport step(const Tensors& gradients);

  /// Loss and weight of the last grad() over all ranks: the weighted mean of the losses; with .mean = false their sum.
  double loss() const { return loss_; }
  double weight() const { return weight_; }
  /// How the exchange of the last grad() went.
  const ExchangeReport& exchange() const { return report_; }

  /// The next call of grad() compares this text over all ranks, and throws ValueError on all of them if it differs: for
  /// the data set, say.
  void agree(std::string_view what, const std::string& text);

  /// The optimizer's whole state on rank 0, with .shard_state that of their shares on the others. It loads on any
  /// number of ranks, each of which is given the whole of it. These throw ValueError if there is no optimizer.
  StateFile state_dict();
  void load_state_dict(const StateFile& state);

  /// The number of steps made, on which random numbers depend; go_to() is for a training that is resumed, or begins
  /// again after an error: it drops what accumulate() has added up.
  std::int64_t steps() const { return steps_; }
  void go_to(std::int64_t step);

 private:
  using Ready = std::function<void(std::size_t i, const Array& gradient)>;
  class Progress;
  // While it lives, random numbers are those of a part.
  class PartRandomness {
   public:
    PartRandomness(const DataParallel& of, std::int64_t p) : before_(random_state()) {
      set_random_state(of.random_of(of.first_part() + p));
    }
    ~PartRandomness() { set_random_state(before_); }
    PartRandomness(const PartRandomness&) = delete;
    PartRandomness& operator=(const PartRandomness&) = delete;

   private:
    RandomState before_;
  };
  // Numbers of the exchange.
  struct Range {
    std::int64_t begin, size;
  };
  // Of some parts.
  struct Sum {
    std::vector<Array> gradients = {}, buffers = {};
    double weight = 0, loss = 0, ran = 0;
    Sum& operator+=(const Sum& other);
  };

  DataParallel(World& world, const nn::Module& model, optim::Optimizer* optimizer, const Options& options);
  std::int64_t parts_here() const { return options_.parts > 0 ? options_.parts / world_.ranks() : 1; }
  std::int64_t first_part() const { return world_.rank() * parts_here(); }
  bool sharded() const { return options_.shard_state && world_.ranks() > 1; }
  bool alone() const;
  RandomState random_of(std::int64_t part) const;
  std::string fingerprint() const;
  void send_all_from_first();
  void lay_out(const std::vector<std::int64_t>& order);
  void check(const kit::WeightedLoss& loss) const;
  double summed(const kit::WeightedLoss& loss) const;

  void begin();
  void part(std::int64_t p, const kit::WeightedLoss& loss);
  void empty_part(std::int64_t p);
  Tensors finish();
  void differentiate(const kit::WeightedLoss& loss, bool weighted, const Ready& ready) const;
  void hand_over(std::size_t i, const Array& gradient);
  void keep(std::int64_t p, Sum sum);
  void merge_buffers(const Sum& mine, double ran);
  std::vector<std::string> entries_of(const StateFile& state, std::size_t i) const;

  World& world_;
  const nn::Module& model_;
  optim::Optimizer* const optimizer_;
  const Options options_;
  const Tensors parameters_;
  const RandomState seed_;
  Tensors averaged_, copied_;                           // buffers of real and of whole numbers
  std::vector<Array> common_averaged_, common_copied_;  // as all ranks had them behind the last step
  std::vector<int> owners_;                             // of the optimizer's state, by parameter
  std::vector<std::pair<std::string, std::string>> to_agree_;
  std::optional<detail::Exchange> exchange_;
  std::vector<Range> places_;        // of gradients in the exchange
  std::vector<std::int64_t> order_;  // in which gradients became complete in the first step
  bool laid_out_ = false;            // by that order
  std::int64_t steps_ = 0;
  double loss_ = 0, weight_ = 0;
  ExchangeReport report_;

  // Of the step in progress.
  std::vector<Sum> sums_;     // of the parts so far
  std::vector<bool> handed_;  // to the exchange
  std::vector<Array> whole_;  // copied_ behind the first part
  Tensors result_;
  Sum accumulated_;
};

}  // namespace xgrad::mpi
