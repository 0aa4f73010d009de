// Formulas of the schedules.
#include "schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "../options.h"

namespace xgrad::optim {
namespace {

// How far a step is on the way to `steps`: from 0 to 1.
double part_of(std::int64_t step, std::int64_t steps) {
  return static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
}

}  // namespace

double Schedule::lr(std::int64_t step, double initial) const {
  if (step < 0) fail<ValueError>("schedule", "step ", step, " is negative");
  return lr_(step, initial);
}

namespace schedule {

Schedule linear(const LinearScheduleOptions& options) {
  detail::not_negative("linear", "start_factor", options.start_factor);
  detail::not_negative("linear", "end_factor", options.end_factor);
  detail::at_least_one("linear", "total_iters", options.total_iters);
  return [o = options](std::int64_t step, double lr) {
    return lr * (o.start_factor + (o.end_factor - o.start_factor) * part_of(step, o.total_iters));
  };
}

Schedule cosine(const CosineOptions& options) {
  detail::not_negative("cosine", "min_lr", options.min_lr);
  detail::at_least_one("cosine", "steps", options.steps);
  return [o = options](std::int64_t step, double lr) {
    return o.min_lr + (lr - o.min_lr) * (1 + std::cos(std::numbers::pi * part_of(step, o.steps))) / 2;
  };
}

Schedule noam(const NoamOptions& options) {
  detail::not_negative("noam", "factor", options.factor);
  detail::at_least_one("noam", "width", options.width);
  detail::at_least_one("noam", "warmup", options.warmup);
  return [o = options](std::int64_t step, double) {
    const double s = static_cast<double>(step) + 1, warm = static_cast<double>(o.warmup);
    return o.factor / std::sqrt(static_cast<double>(o.width)) *
           std::min(1 / std::sqrt(s), s / (warm * std::sqrt(warm)));
  };
}

Schedule warmup(std::int64_t steps, const Schedule& then) {
  detail::at_least_one("warmup", "steps", steps);
  return [=](std::int64_t step, double lr) {
    if (step >= steps) return then.lr(step - steps, lr);
    return then.lr(0, lr) * static_cast<double>(step + 1) / static_cast<double>(steps);
  };
}

Schedule sequential(const std::vector<Schedule>& schedules, const std::vector<std::int64_t>& milestones) {
  if (schedules.size() != milestones.size() + 1) {
    fail<ValueError>("sequential", milestones.size(), " milestones for ", schedules.size(), " schedules");
  }
  std::int64_t before = 0;
  for (const std::int64_t milestone : milestones) {
    if (milestone <= before) fail<ValueError>("sequential", "milestones ", milestones, " do not rise from above 0");
    before = milestone;
  }
  return [=](std::int64_t step, double lr) {
    const auto i = static_cast<std::size_t>(std::ranges::upper_bound(milestones, step) - milestones.begin());
    return schedules[i].lr(i == 0 ? step : step - milestones[i - 1], lr);
  };
}

}  // namespace schedule

Scheduler::Scheduler(Optimizer& optimizer, Schedule schedule) : optimizer_(optimizer), schedule_(std::move(schedule)) {
  go_to(0, initial());
}

std::vector<double> Scheduler::initial() const {
  std::vector<double> rates;
  for (const Optimizer::Rate& rate : optimizer_.rates_) rates.push_back(rate.initial);
  return rates;
}

// The schedule may throw, or give an impossible rate: all rates are checked before the first is set.
void Scheduler::go_to(std::int64_t steps, const std::vector<double>& initial) {
  std::vector<Optimizer::Rate> rates;
  for (const double first : initial) {
    const double now = detail::not_negative("scheduler", str("lr of step ", steps), schedule_.lr(steps, first));
    rates.push_back({.initial = first, .now = now});
  }
  optimizer_.rates_ = std::move(rates);
  steps_ = steps;
}

void Scheduler::step() { go_to(steps_ + 1, initial()); }

StateFile Scheduler::state_dict() const { return {.arrays = {{"steps", Index({}, steps_)}}, .metadata = {}}; }

void Scheduler::load_state_dict(const StateFile& state) {
  std::vector<double> rates = initial();
  for (std::size_t group = 0; group < rates.size(); ++group) {
    const std::string key = str("begin.", group);
    if (state.metadata.contains(key)) rates[group] = detail::rate_in(state, key);
  }
  go_to(detail::count_in(state, "steps", "a scheduler cannot have made"), rates);
}

}  // namespace xgrad::optim
