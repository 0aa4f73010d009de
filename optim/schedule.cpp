// Formulas of the schedules.
#include "schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "options.h"

namespace xgrad::optim {
namespace {

std::int64_t at_least_one(std::string_view who, std::string_view name, std::int64_t value) {
  if (value < 1) fail<ValueError>(who, name, " must be at least 1, got ", value);
  return value;
}

}  // namespace

Schedule constant(double lr) {
  detail::not_negative("constant", "lr", lr);
  return [lr](std::int64_t) { return lr; };
}

Schedule step_decay(const StepDecayOptions& options) {
  detail::not_negative("step_decay", "lr", options.lr);
  detail::not_negative("step_decay", "factor", options.factor);
  at_least_one("step_decay", "every", options.every);
  return [o = options](std::int64_t step) { return o.lr * std::pow(o.factor, static_cast<double>(step / o.every)); };
}

Schedule cosine(const CosineOptions& options) {
  detail::not_negative("cosine", "lr", options.lr);
  detail::not_negative("cosine", "min_lr", options.min_lr);
  at_least_one("cosine", "steps", options.steps);
  return [o = options](std::int64_t step) {
    const double part = static_cast<double>(std::min(step, o.steps)) / static_cast<double>(o.steps);
    return o.min_lr + (o.lr - o.min_lr) * (1 + std::cos(std::numbers::pi * part)) / 2;
  };
}

Schedule noam(const NoamOptions& options) {
  detail::not_negative("noam", "factor", options.factor);
  at_least_one("noam", "width", options.width);
  at_least_one("noam", "warmup", options.warmup);
  return [o = options](std::int64_t step) {
    const double s = static_cast<double>(step) + 1, warm = static_cast<double>(o.warmup);
    return o.factor / std::sqrt(static_cast<double>(o.width)) *
           std::min(1 / std::sqrt(s), s / (warm * std::sqrt(warm)));
  };
}

Schedule warmup(std::int64_t steps, const Schedule& then) {
  at_least_one("warmup", "steps", steps);
  return [=](std::int64_t step) {
    if (step >= steps) return then.lr(step - steps);
    return then.lr(0) * static_cast<double>(step + 1) / static_cast<double>(steps);
  };
}

Scheduler::Scheduler(Optimizer& optimizer, Schedule schedule) : optimizer_(optimizer), schedule_(std::move(schedule)) {
  const double first = optimizer.groups() > 0 ? optimizer.lr() : 0;
  for (int group = 0; group < optimizer.groups(); ++group) {
    const double lr = optimizer.lr(group);
    if (first == 0 && lr != 0) {
      fail<ValueError>("scheduler", "lr ", lr, " of group ", group, " has no proportion to lr 0 of the first");
    }
    proportions_.push_back(lr == first ? 1 : lr / first);
  }
  go_to(0);
}

// The schedule may throw, or give what is no rate: all rates are known to be good before the first is set.
void Scheduler::go_to(std::int64_t steps) {
  const double first = schedule_.lr(steps);
  std::vector<double> rates;
  for (const double proportion : proportions_) {
    rates.push_back(detail::not_negative("scheduler", cat("lr of step ", steps), first * proportion));
  }
  for (std::size_t group = 0; group < rates.size(); ++group) optimizer_.set_lr(static_cast<int>(group), rates[group]);
  steps_ = steps;
}

void Scheduler::step() { go_to(steps_ + 1); }

StateFile Scheduler::state_dict() const { return {.arrays = {{"steps", Index({}, steps_)}}, .metadata = {}}; }

void Scheduler::load_state_dict(const StateFile& state) {
  const Index& steps = state.get<Index>("steps");
  if (steps.rank() != 0) detail::refuse(state, "\"steps\" ", steps.shape(), " for []");
  if (!detail::possible_steps(steps.item())) {
    detail::refuse(state, "a scheduler cannot have made ", steps.item(), " steps");
  }
  go_to(steps.item());
}

}  // namespace xgrad::optim
