// Reports of a training: its measurements after each step, and after each epoch or a number of steps.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace xgrad::kit {

/// The scores of a validation, by name. The first score determines which report is the best. A single number gets the
/// name "validation".
///
/// Threads: the same rules as for a std::vector.
struct Scores {
  Scores() = default;
  Scores(double value) : values{{"validation", value}} {}
  Scores(std::initializer_list<std::pair<std::string, double>> named) : values(named) {}

  std::vector<std::pair<std::string, double>> values = {};
};

/// The report after a step.
struct StepReport {
  std::int64_t step = 0;  ///< number of steps so far, in all epochs
  double loss = 0;        ///< loss of the batch; with `accumulate` the mean over all batches of the step
};

/// The report after an epoch, or after validate_every steps.
struct Report {
  std::int64_t epoch = 0;  ///< number of the epoch, from 1
  std::int64_t step = 0;   ///< number of steps so far
  double loss = 0;         ///< mean of the losses of the steps since the last report
  double lr = 0;           ///< learning rate of the last step
  Scores scores = {};      ///< the result of `validate`
  bool best = false;       ///< whether it is better than all earlier reports
};

/// Which scores are better.
enum class Goal {
  least,    ///< small ones: errors, losses
  greatest  ///< large ones: accuracies, BLEU
};

/// Callbacks: for the validation before each report, after each step, and after each report.
using Validation = std::function<Scores()>;
using StepCallback = std::function<void(const StepReport&)>;
using ReportCallback = std::function<void(const Report&)>;

namespace detail {
/// The progress of a training, as its checkpoint stores it.
struct TrainingState {
  std::int64_t step = 0, epochs = 0;  ///< completed steps and epochs
  std::int64_t began = 0;             ///< the number of steps before the current epoch
  std::int64_t summed = 0;            ///< number of losses since the last report
  double sum = 0, lr = 0;             ///< sum of these losses; learning rate of the last step
  std::uint64_t seed = 0, draws = 0;  ///< state of the generator, in a checkpoint
  std::vector<Report> reports = {};

  double mean_loss() const { return sum / static_cast<double>(summed); }
};
}  // namespace detail

}  // namespace xgrad::kit
