// ReduceOnPlateau: a learning rate that falls when a metric stops improving.
//
//     optim::ReduceOnPlateau plateau{adam, {.factor = 0.5, .patience = 3}};
//     plateau.step(validation_loss);  // after every epoch
#pragma once

#include "../optimizers/optimizer.h"

namespace xgrad::optim {

/// Whether a metric should fall or rise.
enum class Better { lower, higher };
/// The unit of a threshold.
enum class ThresholdMode { relative, absolute };

struct PlateauOptions {
  Better mode = Better::lower;
  double factor = 0.1;         ///< in [0, 1): a reduced rate, divided by the rate before
  std::int64_t patience = 10;  ///< number of steps in a row without improvement that are accepted
  double threshold = 1e-4;     ///< the least improvement
  ThresholdMode threshold_mode = ThresholdMode::relative;
  std::int64_t cooldown = 0;  ///< number of steps that are ignored after a reduction
  double min_lr = 0;
  double eps = 1e-8;  ///< the least change of a rate
};

/// PyTorch's ReduceLROnPlateau: after `patience + 1` steps in a row without improvement, the rates of all groups become
/// max(factor lr, min_lr). For Better::lower, an improvement is a metric below best - threshold |best|, or below best -
/// threshold for an absolute threshold. (PyTorch has best (1 - threshold), which a negative best does not reach.) The
/// initial rates are reduced by the same factors, so the schedule of a Scheduler continues from the reduced rate. The
/// optimizer must outlive it. Threads: one at a time, together with its optimizer.
class ReduceOnPlateau {
 public:
  using Options = PlateauOptions;

  /// Throws ValueError for a factor outside [0, 1), and other options that are negative or not finite.
  explicit ReduceOnPlateau(Optimizer& optimizer, const Options& options = {});

  /// Records a metric. Returns whether the rates were reduced. Throws NumericError for NaN; then nothing has changed.
  bool step(double metric);

  double best() const { return best_; }
  std::int64_t bad_steps() const { return bad_; }

  /// The best metric and the counts, for a checkpoint. The rates are in the optimizer's state.
  StateFile state_dict() const;
  /// Restores a state. Throws FormatError for another kind of state and for another option; then nothing has changed.
  void load_state_dict(const StateFile& state);

 private:
  bool is_better(double metric) const;
  std::vector<NamedOption> named_options() const;

  Optimizer& optimizer_;
  Options options_;
  double best_;
  std::int64_t bad_ = 0, cooling_ = 0;
};

}  // namespace xgrad::optim
