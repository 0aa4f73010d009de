// Formulas of the schedules.
#include "schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "options.h"

namespace xgrad::optim {
namespace {

// How far a step is on the way to `steps`: from 0 to 1.
double part_of(std::int64_t step, std::int64_t steps) {
  return static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
}

}  // namespace
Schedule constant(double lr) {
  detail::not_negative("constant", "lr", lr);
  return [lr](std::int64_t) { return lr; };
}

Schedule constant(const ConstantOptions& options) {
  detail::not_negative("constant", "lr", options.lr);
  detail::not_negative("constant", "factor", options.factor);
  detail::at_least_one("constant", "total_iters", options.total_iters);
  return [o = options](std::int64_t step) { return step < o.total_iters ? o.factor * o.lr : o.lr; };
}

Schedule linear(const LinearScheduleOptions& options) {
  detail::not_negative("linear", "lr", options.lr);
  detail::not_negative("linear", "start_factor", options.start_factor);
  detail::not_negative("linear", "end_factor", options.end_factor);
  detail::at_least_one("linear", "total_iters", options.total_iters);
  return [o = options](std::int64_t step) {
    return o.lr * (o.start_factor + (o.end_factor - o.start_factor) * part_of(step, o.total_iters));
  };
}

Schedule polynomial(const PolynomialOptions& options) {
  detail::not_negative("polynomial", "lr", options.lr);
  detail::at_least_one("polynomial", "total_iters", options.total_iters);
  detail::not_negative("polynomial", "power", options.power);
  return [o = options](std::int64_t step) {
    return step >= o.total_iters ? 0 : o.lr * std::pow(1 - part_of(step, o.total_iters), o.power);
  };
}

Schedule exponential(const ExponentialOptions& options) {
  detail::not_negative("exponential", "lr", options.lr);
  detail::not_negative("exponential", "gamma", options.gamma);
  return [o = options](std::int64_t step) { return o.lr * std::pow(o.gamma, static_cast<double>(step)); };
}

Schedule multi_step(const MultiStepOptions& options) {
  detail::not_negative("multi_step", "lr", options.lr);
  detail::not_negative("multi_step", "gamma", options.gamma);
  if (options.milestones.empty()) fail<ValueError>("multi_step", "there are no milestones");
  if (!std::ranges::is_sorted(options.milestones) || options.milestones.front() < 0) {
    fail<ValueError>("multi_step", "milestones must rise and not be negative, got ", options.milestones);
  }
  return [o = options](std::int64_t step) {
    const auto reached = std::ranges::upper_bound(o.milestones, step) - o.milestones.begin();
    return o.lr * std::pow(o.gamma, static_cast<double>(reached));
  };
}

Schedule step_decay(const StepDecayOptions& options) {
  detail::not_negative("step_decay", "lr", options.lr);
  detail::not_negative("step_decay", "factor", options.factor);
  detail::at_least_one("step_decay", "every", options.every);
  return [o = options](std::int64_t step) { return o.lr * std::pow(o.factor, static_cast<double>(step / o.every)); };
}

Schedule cosine(const CosineOptions& options) {
  detail::not_negative("cosine", "lr", options.lr);
  detail::not_negative("cosine", "min_lr", options.min_lr);
  detail::at_least_one("cosine", "steps", options.steps);
  return [o = options](std::int64_t step) {
    return o.min_lr + (o.lr - o.min_lr) * (1 + std::cos(std::numbers::pi * part_of(step, o.steps))) / 2;
  };
}

Schedule cosine_warm_restarts(const CosineRestartsOptions& options) {
  detail::not_negative("cosine_warm_restarts", "lr", options.lr);
  detail::not_negative("cosine_warm_restarts", "min_lr", options.min_lr);
  detail::at_least_one("cosine_warm_restarts", "steps", options.steps);
  detail::at_least_one("cosine_warm_restarts", "growth", options.growth);
  return [o = options](std::int64_t step) {
    std::int64_t length = o.steps;
    if (o.growth == 1) step %= length;
    while (step >= length) {
      step -= length;
      if (length > std::numeric_limits<std::int64_t>::max() / o.growth) break;  // longer than any run
      length *= o.growth;
    }
    return o.min_lr + (o.lr - o.min_lr) * (1 + std::cos(std::numbers::pi * part_of(step, length))) / 2;
  };
}

Schedule one_cycle(const OneCycleOptions& options) {
  constexpr const char* op = "one_cycle";
  detail::not_negative(op, "max_lr", options.max_lr);
  detail::at_least_one(op, "total_steps", options.total_steps);
  for (const auto& [name, factor] :
       {std::pair("div_factor", options.div_factor), std::pair("final_div_factor", options.final_div_factor)}) {
    if (!(factor > 0) || std::isinf(factor)) fail<ValueError>(op, name, " must be finite and above 0, got ", factor);
  }
  if (!(options.pct_start >= 0 && options.pct_start <= 1)) {
    fail<ValueError>(op, "pct_start must be in [0, 1], got ", options.pct_start);
  }
  const double first = options.max_lr / options.div_factor, last = first / options.final_div_factor;
  const double rise = options.pct_start * static_cast<double>(options.total_steps);
  struct Phase {
    double end, from, to;
  };
  std::vector<Phase> phases{{rise - 1, first, options.max_lr}};
  if (options.three_phase) phases.push_back({2 * rise - 2, options.max_lr, first});
  phases.push_back({static_cast<double>(options.total_steps - 1), phases.back().to, last});
  double begin = 0;
  for (const Phase& phase : phases) {
    if (!(phase.end > begin)) {
      fail<ValueError>(op, "pct_start ", options.pct_start, " of ", options.total_steps,
                       " steps leaves no step for one of the phases");
    }
    begin = phase.end;
  }
  return [phases, anneal = options.anneal_strategy](std::int64_t step) {
    const double at = std::min(static_cast<double>(step), phases.back().end);
    double begin = 0;
    for (const Phase& phase : phases) {
      if (at <= phase.end) {
        const double part = (at - begin) / (phase.end - begin);
        return anneal == Anneal::linear
                   ? phase.from + (phase.to - phase.from) * part
                   : phase.to + (phase.from - phase.to) * (1 + std::cos(std::numbers::pi * part)) / 2;
      }
      begin = phase.end;
    }
    return phases.back().to;
  };
}

Schedule noam(const NoamOptions& options) {
  detail::not_negative("noam", "factor", options.factor);
  detail::at_least_one("noam", "width", options.width);
  detail::at_least_one("noam", "warmup", options.warmup);
  return [o = options](std::int64_t step) {
    const double s = static_cast<double>(step) + 1, warm = static_cast<double>(o.warmup);
    return o.factor / std::sqrt(static_cast<double>(o.width)) *
           std::min(1 / std::sqrt(s), s / (warm * std::sqrt(warm)));
  };
}

Schedule warmup(std::int64_t steps, const Schedule& then) {
  detail::at_least_one("warmup", "steps", steps);
  return [=](std::int64_t step) {
    if (step >= steps) return then.lr(step - steps);
    return then.lr(0) * static_cast<double>(step + 1) / static_cast<double>(steps);
  };
}

Schedule lambda(double lr, const Schedule& factor) {
  detail::not_negative("lambda", "lr", lr);
  return [=](std::int64_t step) { return lr * factor.lr(step); };
}

Schedule chained(const std::vector<Schedule>& schedules) {
  if (schedules.empty()) fail<ValueError>("chained", "there are no schedules");
  return [=](std::int64_t step) {
    double product = 1;
    for (const Schedule& schedule : schedules) product *= schedule.lr(step);
    return product;
  };
}

Schedule sequential(const std::vector<Schedule>& schedules, const std::vector<std::int64_t>& milestones) {
  if (schedules.size() != milestones.size() + 1) {
    fail<ValueError>("sequential", milestones.size(), " milestones for ", schedules.size(), " schedules");
  }
  std::int64_t before = 0;
  for (const std::int64_t milestone : milestones) {
    if (milestone <= before) fail<ValueError>("sequential", "milestones must rise from above 0, got ", milestones);
    before = milestone;
  }
  return [=](std::int64_t step) {
    const auto i = static_cast<std::size_t>(std::ranges::upper_bound(milestones, step) - milestones.begin());
    return schedules[i].lr(step - (i == 0 ? 0 : milestones[i - 1]));
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
  go_to(detail::count_in(state, "steps", "a scheduler cannot have made"));
}

}  // namespace xgrad::optim
