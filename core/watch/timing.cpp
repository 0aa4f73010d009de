// Adding up the time of operations.
#include "timing.h"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

namespace xgrad {

void OperationTimer::operation(const OperationRun& run) { work(run.op, run.spent); }

void OperationTimer::work(const char* what, Duration spent) {
  if (depth_ == 0) {
    add(what, Part::forward, spent);
  } else {
    in_gradients_ += spent;
  }
}

void OperationTimer::begin_gradients(const Node&, Duration spent) {
  work("graph", spent);
  ++depth_;
}

void OperationTimer::end_gradients(const Node& node, Duration spent) noexcept {
  if (depth_ == 0) return;  // born within a rule
  in_gradients_ += spent;
  if (--depth_ == 0) add(node.op, Part::backward, std::exchange(in_gradients_, Duration()));
}

void OperationTimer::add(const char* what, Part part, Duration spent) noexcept {
  try {
    Sum& sum = sums_[static_cast<std::size_t>(part)][what];
    ++sum.calls;
    sum.time += spent;
  } catch (const std::bad_alloc&) {
  }
}

std::vector<OperationTimer::Line> OperationTimer::lines() const {
  // The same name may be several literals.
  std::map<std::string, Sum> by_name;
  for (const Part part : {Part::forward, Part::backward}) {
    for (const auto& [what, sum] : sums_[static_cast<std::size_t>(part)]) {
      Sum& all = by_name[part == Part::backward ? std::string(what) + "'" : std::string(what)];
      all.calls += sum.calls;
      all.time += sum.time;
    }
  }
  std::vector<Line> lines;
  for (const auto& [what, sum] : by_name) {
    lines.push_back({what, sum.calls, 1e-6 * static_cast<double>(sum.time)});
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), &Line::milliseconds);
  return lines;
}

}  // namespace xgrad
