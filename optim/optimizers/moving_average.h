// The exponential moving average of weights, which often predicts better than the weights themselves.
//
//     optim::ExponentialMovingAverage average{model.parameters(), {.decay = 0.999}};
//     for (int step = 0; step < 1000; ++step) {
//       adam.step(grad(loss, model.parameters()));
//       average.update();
//     }
//     const optim::AveragedWeights averaged(average);  // the model has the averages until the end of the block
#pragma once

#include <string>
#include <vector>

#include "../../core/files/state.h"
#include "../../core/graph/tensor.h"

namespace xgrad::optim {

struct MovingAverageOptions {
  double decay = 0.999;  ///< in [0, 1]: the weight of the old average in an update
};

/// Polyak and Juditsky 1992; PyTorch's AveragedModel with get_ema_multi_avg_fn. With weights x, in every update
///
///     a <- x                                the first time
///     a <- decay a + (1 - decay) x          afterwards
///
/// All given tensors are averaged, also buffers such as BatchNorm's statistics. A module's buffers of integers, which
/// count something, are copied instead, and so are buffers that are not finite (a mask of -inf).
/// Threads: one at a time, and while it updates or swaps, no other thread may use the tensors.
class ExponentialMovingAverage {
 public:
  using Options = MovingAverageOptions;

  /// Throws ValueError for a decay outside [0, 1], a duplicate tensor and an empty list; GraphError for a tensor that
  /// is no leaf.
  explicit ExponentialMovingAverage(const Tensors& parameters, const Options& options = {});
  ExponentialMovingAverage(const ExponentialMovingAverage&) = delete;
  ExponentialMovingAverage& operator=(const ExponentialMovingAverage&) = delete;

  /// To be called after each step of the optimizer. Throws NumericError for a weight that is not finite, by name,
  /// ShapeError for one whose shape has changed, GraphError while AveragedWeights live; then nothing has changed.
  void update();
  /// The number of updates so far.
  std::int64_t updates() const { return updates_; }
  /// The averages in the order of the parameters; before the first update, the values at construction.
  std::vector<Array> averages() const;

  /// Averages by name, the number of updates and the decay, for a checkpoint.
  StateFile state_dict() const;
  /// Restores a state. Throws FormatError for another decay, and with every name that is missing, unexpected, of
  /// another shape or not finite; then nothing has changed.
  void load_state_dict(const StateFile& state);

 private:
  friend class AveragedWeights;
  struct Entry {
    Tensor parameter;
    std::string name;
    Array average;
    bool copied;  // not averaged
  };

  Options options_;
  std::vector<Entry> entries_;
  std::int64_t updates_ = 0;
  bool swapped_ = false;
};

/// A scope in which the parameters have the averages as values. Its end restores their old values. The averages must
/// outlive it.
/// Threads: as ExponentialMovingAverage.
class [[nodiscard]] AveragedWeights {
 public:
  /// Throws GraphError inside another scope of the same averages.
  [[nodiscard]] explicit AveragedWeights(ExponentialMovingAverage& average);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  ExponentialMovingAverage& average_;
  std::vector<Array> values_;
};

}  // namespace xgrad::optim
