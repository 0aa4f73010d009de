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
  double factor = 0.1;         ///< in [0, 1): the share of a rate that a reduction keeps
  std::int64_t patience = 10;  ///< how many figures in a row may be no better
  double threshold = 1e-4;     ///< by how much a better figure must be better
  ThresholdMode threshold_mode = ThresholdMode::relative;
  std::int64_t cooldown = 0;  ///< how many figures do not count after a reduction
  double min_lr = 0;
  double eps = 1e-8;  ///< a rate that would change by no more stays
};

/// PyTorch's ReduceLROnPlateau: where `patience + 1` figures in a row are not better than the best one, the rates of
/// all groups become max(factor lr, min_lr). Better than best is, if lower is better, a figure below best - threshold
/// |best|, with an absolute threshold below best - threshold. (PyTorch has best (1 - threshold), which is above a best
/// that is negative: any figure would be better.) The initial rates are reduced by the same factors, so that a
/// Scheduler of the same optimizer goes on from the reduced rate, if its schedule depends on it. The optimizer must
/// outlive it. Threads: one at a time, together with its optimizer.
class ReduceOnPlateau {
 public:
  using Options = PlateauOptions;

  /// Throws ValueError for a factor outside [0, 1), and other options that are negative or not finite.
  explicit ReduceOnPlateau(Optimizer& optimizer, const Options& options = {});

  /// Takes the next figure; whether the rates were reduced. Throws NumericError for NaN; then nothing has changed.
  bool step(double metric);

  double best() const { return best_; }
  std::int64_t bad_steps() const { return bad_; }

  /// Figures so far, for a checkpoint. The rates themselves are in the optimizer's state.
  StateFile state_dict() const;
  /// Goes on where a state was taken. Throws FormatError for another kind of state, and for one taken with another
  /// option; then nothing has changed.
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
