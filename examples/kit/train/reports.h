// What a training shows: a bar or lines, log.csv, curves.svg.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <xgrad/kit/files/csv.h>
#include <xgrad/kit/program/progress.h>
#include <xgrad/kit/train/trainer.h>

namespace xgrad::kit::detail {

/// The names of a report's numbers in log.csv.
std::vector<std::string> columns_of(const Report& report);

/// Shows the reports of a training. The options and the numbers must outlive it.
///
/// Threads: one at a time.
class Reports {
 public:
  /// `steps` end the training, or its epochs; an epoch has `batches`, or there are none. The reports so far are written
  /// to log.csv anew: it may lack some of them, or have more.
  Reports(const TrainerOptions& options, const TrainingState& now, std::optional<std::int64_t> steps,
          std::int64_t batches);

  /// Draws the bar after a step. There is one for the whole training.
  void show();
  /// Writes the last report to log.csv and, if there is no bar, as a line.
  void add();
  /// Ends the bar before other output; the next step begins it anew.
  void pause() { bar_.reset(); }
  /// Draws curves.svg. Curves that fall by orders of magnitude are logarithmic.
  void draw() const;

 private:
  NamedFields fields(double loss) const;
  void print_line();
  void write_row(const Report& report);

  const TrainerOptions& options_;
  const TrainingState& now_;
  const std::optional<std::int64_t> steps_;
  const std::int64_t batches_;
  const bool by_steps_;  // and not by epochs
  std::optional<CsvLogger> log_;
  std::optional<ProgressBar> bar_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();  // the last line
};

}  // namespace xgrad::kit::detail
