// Which report is the best.
#include <xgrad/kit/train/best.h>

namespace xgrad::kit::detail {

void Best::judge(std::vector<Report>& reports) {
  Report& last = reports.back();
  last.best = reports.size() == 1 || is_better(last, of(reports));
  if (last.best) state_ = module_.state_dict();
}

const Report& Best::of(const std::vector<Report>& reports) const {
  for (auto report = reports.rbegin(); report != reports.rend(); ++report) {
    if (report->best) return *report;
  }
  fail<ValueError>("trainer", "no epoch is done yet");
}

void Best::load_state_dict(const StateFile& state, const std::vector<Report>& reports) {
  if (!reports.empty()) module_.load_state_dict(state.arrays, {.source = state.source});
  state_ = state.arrays;
}

bool Best::is_better(const Report& a, const Report& b) const {
  if (a.scores.values.empty()) return a.loss < b.loss;
  const double x = a.scores.values.front().second, y = b.scores.values.front().second;
  return goal_ == Goal::least ? x < y : x > y;
}

}  // namespace xgrad::kit::detail
