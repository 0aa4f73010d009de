// Adding up the time of operations.
#include "timing.h"

#include <algorithm>
#include <map>
#include <new>
#include <utility>

namespace xgrad {

thread_local constinit OperationTimer* OperationTimer::current_ = nullptr;

OperationTimer::OperationTimer() : last_(Clock::now()), outer_(std::exchange(current_, this)) {}

OperationTimer::~OperationTimer() { detail::unlink_scope(current_, this, &OperationTimer::outer_); }

void OperationTimer::add(const char* what, Part part) noexcept {
  const auto now = Clock::now();
  const auto passed = now - std::exchange(last_, now);
  try {
    Sum& sum = sums_[static_cast<std::size_t>(part)][what];
    ++sum.calls;
    sum.time += passed;
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
    lines.push_back({what, sum.calls, std::chrono::duration<double, std::milli>(sum.time).count()});
  }
  std::ranges::stable_sort(lines, std::ranges::greater(), &Line::milliseconds);
  return lines;
}

}  // namespace xgrad
