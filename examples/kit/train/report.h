// What a training has measured: after each step, and after each epoch or so many steps.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace xgrad::kit {

/// The scores of a validation, by name; the first decides which report is the best. A single number is called
/// "validation".
///
/// Threads: like a std::vector.
struct Scores {
  Scores() = default;
  Scores(double value) : values{{"validation", value}} {}
  Scores(std::initializer_list<std::pair<std::string, double>> named) : values(named) {}

  std::vector<std::pair<std::string, double>> values = {};
};

/// The report after a step.
struct StepReport {
  std::int64_t step = 0;  ///< steps done, in all epochs
  double loss = 0;        ///< of the batch; with `accumulate` as of one batch of them all
};

/// The report after an epoch, or with validate_every after so many steps.
struct Report {
  std::int64_t epoch = 0;  ///< its number, from 1 on
  std::int64_t step = 0;   ///< steps done
  double loss = 0;         ///< mean of the losses of the steps since the last report
  double lr = 0;           ///< learning rate of its last step
  Scores scores = {};      ///< of `validate`
  bool best = false;       ///< better than all before it
};

/// Which scores are better.
enum class Goal {
  least,    ///< of errors, losses
  greatest  ///< of accuracies, BLEU
};

/// Callbacks: to validate the model before each report, and for steps and reports.
using Validation = std::function<Scores()>;
using StepCallback = std::function<void(const StepReport&)>;
using ReportCallback = std::function<void(const Report&)>;

namespace detail {
/// How far a training has come: the numbers that its checkpoint holds.
struct TrainingState {
  std::int64_t step = 0, epochs = 0;  ///< that are done
  std::int64_t began = 0;             ///< the step after which this epoch began
  std::int64_t summed = 0;            ///< losses since the last report
  double sum = 0, lr = 0;             ///< of these losses; of the last step
  std::uint64_t seed = 0, draws = 0;  ///< of the generator, in a checkpoint
  std::vector<Report> reports = {};

  double mean_loss() const { return sum / static_cast<double>(summed); }
};
}  // namespace detail

}  // namespace xgrad::kit
