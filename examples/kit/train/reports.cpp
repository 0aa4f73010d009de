// A training as a bar, as lines, as a table and as curves.
#include <xgrad/kit/train/reports.h>

#include <algorithm>
#include <ostream>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/output.h>

namespace xgrad::kit::detail {

std::vector<std::string> columns_of(const Report& report) {
  std::vector<std::string> columns{"epoch", "step", "train_loss", "lr"};
  for (const auto& [name, value] : report.scores.values) columns.push_back(name);
  return columns;
}

Reports::Reports(const TrainerOptions& options, const TrainingState& now, std::optional<std::int64_t> steps,
                 std::int64_t batches)
    : options_(options),
      now_(now),
      steps_(steps),
      batches_(batches),
      by_steps_(batches == 0 || options.validate_every > 0) {
  for (const Report& report : now.reports) write_row(report);
}

void Reports::show() {
  if (options_.terminal.out == nullptr || !options_.terminal.redraws) return;
  if (!bar_) {
    const std::int64_t of_epoch = (batches_ + options_.accumulate - 1) / options_.accumulate;
    bar_.emplace(ProgressOptions{.total = steps_.value_or(options_.epochs * of_epoch),
                                 .title = "training",
                                 .start = now_.step - 1,
                                 .terminal = options_.terminal});
  }
  NamedFields shown = fields(now_.mean_loss());
  if (!steps_) shown.insert(shown.begin(), {"epoch", str(now_.epochs + 1, "/", options_.epochs)});
  bar_->update(now_.step, std::move(shown));
}

void Reports::add() {
  write_row(now_.reports.back());
  if (options_.terminal.out && !options_.terminal.redraws) print_line();
}

void Reports::draw() const {
  const std::vector<Report>& reports = now_.reports;
  const auto& scores = reports.front().scores.values;
  std::vector<PlotPanel> panels;
  for (std::size_t i = 0; i <= scores.size(); ++i) {  // the loss, then the scores
    Series series{.style = reports.size() < 30 ? Series::Style::marked : Series::Style::line};
    for (const Report& report : reports) {
      series.x.push_back(static_cast<double>(by_steps_ ? report.step : report.epoch));
      series.y.push_back(i == 0 ? report.loss : report.scores.values[i - 1].second);
    }
    const auto [least, most] = std::ranges::minmax(series.y);
    panels.push_back({.series = {std::move(series)},
                      .title = i == 0 ? "training loss" : scores[i - 1].first,
                      .x_label = by_steps_ ? "step" : "epoch",
                      .y_scale = least > 0 && most > 10 * least ? Scale::log : Scale::linear});
  }
  save(options_.folder / "curves.svg", panel_plot(panels));
}

NamedFields Reports::fields(double loss) const {
  NamedFields all{{"loss", fixed(loss, 4)}};
  if (now_.reports.empty()) return all;
  for (const auto& [name, value] : now_.reports.back().scores.values) all.emplace_back(name, fixed(value, 4));
  return all;
}

// One line at most in a second, but the first and the last report have theirs.
void Reports::print_line() {
  const Report& report = now_.reports.back();
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - since_;
  const bool last = steps_ ? report.step >= *steps_ : report.epoch == options_.epochs;
  if (now_.reports.size() > 1 && !last && spent.count() < 1) return;
  std::string line = steps_ ? "" : str("epoch ", report.epoch, "/", options_.epochs);
  if (steps_ || by_steps_) line += str(line.empty() ? "" : "  ", "step ", report.step);
  for (const auto& [name, value] : fields(report.loss)) line += str("  ", name, " ", value.text());
  *options_.terminal.out << line + "  " + duration(spent.count()) + "\n" << std::flush;
  since_ = std::chrono::steady_clock::now();
}

void Reports::write_row(const Report& report) {
  if (options_.folder.empty()) return;
  if (!log_) log_.emplace(options_.folder / "log.csv", columns_of(report));
  std::vector<Field> row{report.epoch, report.step, report.loss, report.lr};
  for (const auto& [name, value] : report.scores.values) row.emplace_back(value);
  log_->row(row);
}

}  // namespace xgrad::kit::detail
