// The exponential moving average of weights. Models with averaged weights often predict better.
//
//     optim::ExponentialMovingAverage average{model.parameters(), {.decay = 0.999}};
//     for (int step = 0; step < 1000; ++step) {
//       adam.step(grad(loss, model.parameters()));
//       average.update();
//     }
//     const optim::AveragedWeights averaged(average);  // the model uses the averages until the end of the block
#pragma once

#include <string>
#include <vector>

#include "../../core/files/state.h"
#include "../../core/graph/tensor.h"

namespace xgrad::optim {

struct MovingAverageOptions {
  double decay = 0.999;  ///< weight of the old average in an update, in [0, 1]
};

/// The exponential moving average of weights (Polyak, Juditsky 1992), as PyTorch's AveragedModel with
/// get_ema_multi_avg_fn. Each update with weights x computes
///
///     a <- x                                the first time
///     a <- decay a + (1 - decay) x          afterwards
///
/// All given tensors are averaged, also buffers such as the statistics of BatchNorm. Integer buffers of a module, which
/// count something, are copied instead, and so are buffers that are not finite, such as a mask of -infinity.
/// Threads: one thread at a time. During an update or a swap no other thread may use the tensors.
class ExponentialMovingAverage {
 public:
  using Options = MovingAverageOptions;

  /// Throws ValueError for a decay outside [0, 1], a duplicate tensor or an empty list; GraphError for a tensor that is
  /// no leaf.
  explicit ExponentialMovingAverage(const Tensors& parameters, const Options& options = {});
  ExponentialMovingAverage(const ExponentialMovingAverage&) = delete;
  ExponentialMovingAverage& operator=(const ExponentialMovingAverage&) = delete;

  /// Updates the averages; call it after each step of the optimizer. Throws NumericError, which names the weight, for a
  /// weight that is not finite, ShapeError for a changed shape, and GraphError while AveragedWeights exist. If it
  /// throws, nothing is changed.
  void update();
  /// The number of updates so far.
  std::int64_t updates() const { return updates_; }
  /// The averages in the order of the parameters; before the first update, the initial values.
  std::vector<Array> averages() const;

  /// The averages by name, the number of updates and the decay, for a checkpoint.
  StateFile state_dict() const;
  /// Restores a state. Throws FormatError for another decay, and with a list of all names that are missing, unexpected,
  /// of another shape or not finite. If it throws, nothing is changed.
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

/// A scope in which the parameters have the averages as values. Its end restores the original values. The averages must
/// outlive the scope.
/// Threads: the same rules as for ExponentialMovingAverage.
class [[nodiscard]] AveragedWeights {
 public:
  /// Throws GraphError within another scope for the same averages.
  [[nodiscard]] explicit AveragedWeights(ExponentialMovingAverage& average);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  ExponentialMovingAverage& average_;
  std::vector<Array> values_;
};

}  // namespace xgrad::optim
