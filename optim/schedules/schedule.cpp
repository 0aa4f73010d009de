// Formulas of the schedules.
#include "schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "../options.h"

namespace xgrad::optim {
namespace {

// How far a step is on the way to `steps`: from 0 to 1.
double part_of(std::int64_t step, std::int64_t steps) {
  return static_cast<double>(std::min(step, steps)) / static_cast<double>(steps);
}

// Throws ValueError for a rate that is none.
void check_rate(const char* who, const std::optional<double>& lr, const char* name = "lr") {
  if (lr) detail::not_negative(who, name, *lr);
}

// A schedule of others, which has a rate if `first` has one. Theirs replaces the one it is given.
template <class F>
Schedule made_of(const Schedule& first, F lr) {
  return Schedule(first.relative() ? std::nullopt : std::optional(1.0), std::move(lr));
}

}  // namespace

double Schedule::lr(std::int64_t step) const {
  if (relative_) fail<ValueError>("schedule", "made without a rate: it needs an optimizer's, lr(step, own)");
  return lr(step, 1);
}

double Schedule::lr(std::int64_t step, double own) const {
  if (step < 0) fail<ValueError>("schedule", "step ", step, " is negative");
  return lr_(step, own);
}

Schedule constant(double lr) {
  detail::not_negative("constant", "lr", lr);
  return [lr](std::int64_t) { return lr; };
}

Schedule constant(const ConstantOptions& options) {
  check_rate("constant", options.lr);
  detail::not_negative("constant", "factor", options.factor);
  detail::at_least_one("constant", "total_iters", options.total_iters);
  return Schedule(options.lr,
                  [o = options](std::int64_t step, double lr) { return step < o.total_iters ? o.factor * lr : lr; });
}

Schedule linear(const LinearScheduleOptions& options) {
  check_rate("linear", options.lr);
  detail::not_negative("linear", "start_factor", options.start_factor);
  detail::not_negative("linear", "end_factor", options.end_factor);
  detail::at_least_one("linear", "total_iters", options.total_iters);
  return Schedule(options.lr, [o = options](std::int64_t step, double lr) {
    return lr * (o.start_factor + (o.end_factor - o.start_factor) * part_of(step, o.total_iters));
  });
}

Schedule polynomial(const PolynomialOptions& options) {
  check_rate("polynomial", options.lr);
  detail::at_least_one("polynomial", "total_iters", options.total_iters);
  detail::not_negative("polynomial", "power", options.power);
  return Schedule(options.lr, [o = options](std::int64_t step, double lr) {
    return step >= o.total_iters ? 0 : lr * std::pow(1 - part_of(step, o.total_iters), o.power);
  });
}

Schedule exponential(const ExponentialOptions& options) {
  check_rate("exponential", options.lr);
  detail::not_negative("exponential", "gamma", options.gamma);
  return Schedule(options.lr, [o = options](std::int64_t step, double lr) {
    return lr * std::pow(o.gamma, static_cast<double>(step));
  });
}

Schedule multi_step(const MultiStepOptions& options) {
  check_rate("multi_step", options.lr);
  detail::not_negative("multi_step", "gamma", options.gamma);
  if (options.milestones.empty()) fail<ValueError>("multi_step", "there are no milestones");
  if (!std::ranges::is_sorted(options.milestones) || options.milestones.front() < 0) {
    fail<ValueError>("multi_step", "milestones ", options.milestones, " do not rise from 0 on");
  }
  return Schedule(options.lr, [o = options](std::int64_t step, double lr) {
    const auto reached = std::ranges::upper_bound(o.milestones, step) - o.milestones.begin();
    return lr * std::pow(o.gamma, static_cast<double>(reached));
  });
}

Schedule step_decay(const StepDecayOptions& options) {
  check_rate("step_decay", options.lr);
  detail::not_negative("step_decay", "factor", options.factor);
  detail::at_least_one("step_decay", "every", options.every);
  return Schedule(options.lr, [o = options](std::int64_t step, double lr) {
    return lr * std::pow(o.factor, static_cast<double>(step / o.every));
  });
}

Schedule cosine(const CosineOptions& options) {
  check_rate("cosine", options.lr);
  detail::not_negative("cosine", "min_lr", options.min_lr);
  detail::at_least_one("cosine", "steps", options.steps);
  return Schedule(options.lr, [o = options](std::int64_t step, double lr) {
    return o.min_lr + (lr - o.min_lr) * (1 + std::cos(std::numbers::pi * part_of(step, o.steps))) / 2;
  });
}

Schedule cosine_warm_restarts(const CosineRestartsOptions& options) {
  check_rate("cosine_warm_restarts", options.lr);
  detail::not_negative("cosine_warm_restarts", "min_lr", options.min_lr);
  detail::at_least_one("cosine_warm_restarts", "steps", options.steps);
  detail::at_least_one("cosine_warm_restarts", "growth", options.growth);
  return Schedule(options.lr, [o = options](std::int64_t step, double lr) {
    std::int64_t length = o.steps;
    if (o.growth == 1) step %= length;
    while (step >= length) {
      step -= length;
      if (length > std::numeric_limits<std::int64_t>::max() / o.growth) break;  // longer than any run
      length *= o.growth;
    }
    return o.min_lr + (lr - o.min_lr) * (1 + std::cos(std::numbers::pi * part_of(step, length))) / 2;
  });
}

Schedule one_cycle(const OneCycleOptions& options) {
  constexpr const char* op = "one_cycle";
  check_rate(op, options.max_lr, "max_lr");
  detail::at_least_one(op, "total_steps", options.total_steps);
  for (const auto& [name, factor] :
       {std::pair("div_factor", options.div_factor), std::pair("final_div_factor", options.final_div_factor)}) {
    if (!(factor > 0) || std::isinf(factor)) fail<ValueError>(op, name, " ", factor, " is not positive and finite");
  }
  if (!(options.pct_start >= 0 && options.pct_start <= 1)) {
    fail<ValueError>(op, "pct_start ", options.pct_start, " is not in [0, 1]");
  }
  const double first = 1 / options.div_factor, last = first / options.final_div_factor;  // of max_lr
  const double rise = options.pct_start * static_cast<double>(options.total_steps);
  struct Phase {
    double end, from, to;
  };
  std::vector<Phase> phases{{rise - 1, first, 1}};
  if (options.three_phase) phases.push_back({2 * rise - 2, 1, first});
  phases.push_back({static_cast<double>(options.total_steps - 1), phases.back().to, last});
  double begin = 0;
  for (const Phase& phase : phases) {
    if (!(phase.end > begin)) {
      fail<ValueError>(op, "pct_start ", options.pct_start, " of ", options.total_steps,
                       " steps leaves no step for one of the phases");
    }
    begin = phase.end;
  }
  return Schedule(options.max_lr, [phases, anneal = options.anneal_strategy](std::int64_t step, double most) {
    const double at = std::min(static_cast<double>(step), phases.back().end);
    double begin = 0;
    for (const Phase& phase : phases) {
      if (at <= phase.end) {
        const double part = (at - begin) / (phase.end - begin);
        return most * (anneal == Anneal::linear
                           ? phase.from + (phase.to - phase.from) * part
                           : phase.to + (phase.from - phase.to) * (1 + std::cos(std::numbers::pi * part)) / 2);
      }
      begin = phase.end;
    }
    return most * phases.back().to;
  });
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
  return made_of(then, [=](std::int64_t step, double own) {
    if (step >= steps) return then.lr(step - steps, own);
    return then.lr(0, own) * static_cast<double>(step + 1) / static_cast<double>(steps);
  });
}

Schedule lambda(std::optional<double> lr, const Schedule& factor) {
  check_rate("lambda", lr);
  return Schedule(lr, [=](std::int64_t step, double own) { return own * factor.lr(step, 1); });
}

Schedule chained(const std::vector<Schedule>& schedules) {
  if (schedules.empty()) fail<ValueError>("chained", "there are no schedules");
  return made_of(schedules.front(), [=](std::int64_t step, double own) {
    double product = schedules.front().lr(step, own);
    for (std::size_t i = 1; i < schedules.size(); ++i) product *= schedules[i].lr(step, 1);
    return product;
  });
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
  for (const Schedule& schedule : schedules) {
    if (schedule.relative() != schedules.front().relative()) {
      fail<ValueError>("sequential", "needs a rate of all schedules or of none");
    }
  }
  return made_of(schedules.front(), [=](std::int64_t step, double own) {
    const auto i = static_cast<std::size_t>(std::ranges::upper_bound(milestones, step) - milestones.begin());
    return schedules[i].lr(step - (i == 0 ? 0 : milestones[i - 1]), own);
  });
}

Scheduler::Scheduler(Optimizer& optimizer, Schedule schedule) : optimizer_(optimizer), schedule_(std::move(schedule)) {
  std::vector<double> begin;
  for (int group = 0; group < optimizer.groups(); ++group) {
    const double lr = optimizer.lr(group);
    if (!schedule_.relative() && optimizer.lr() == 0 && lr != 0) {
      fail<ValueError>("scheduler", "lr ", lr, " of group ", group, " has no proportion to lr 0 of the first");
    }
    begin.push_back(lr);
  }
  go_to(0, std::move(begin));
}

// The schedule may throw, or give what is no rate: all rates are known to be good before the first is set.
void Scheduler::go_to(std::int64_t steps, std::vector<double> begin) {
  std::vector<double> rates;
  for (const double own : begin) {
    const double proportion = schedule_.relative() || own == begin.front() ? 1 : own / begin.front();
    const double rate = schedule_.lr(steps, own) * proportion;
    rates.push_back(detail::not_negative("scheduler", cat("lr of step ", steps), rate));
  }
  for (std::size_t group = 0; group < rates.size(); ++group) optimizer_.set_lr(static_cast<int>(group), rates[group]);
  begin_ = std::move(begin);
  steps_ = steps;
}

void Scheduler::step() { go_to(steps_ + 1, begin_); }

StateFile Scheduler::state_dict() const {
  StateFile state{.arrays = {{"steps", Index({}, steps_)}}, .metadata = {}};
  for (std::size_t group = 0; schedule_.relative() && group < begin_.size(); ++group) {
    state.metadata[cat("begin.", group)] = cat(begin_[group]);
  }
  return state;
}

void Scheduler::load_state_dict(const StateFile& state) {
  std::vector<double> begin = begin_;
  for (std::size_t group = 0; schedule_.relative() && group < begin.size(); ++group) {
    const std::string key = cat("begin.", group);
    if (!state.metadata.contains(key)) continue;
    begin[group] = detail::number_in(state, key, "learning rate");
    if (!(begin[group] >= 0) || std::isinf(begin[group])) {
      detail::refuse(state, begin[group], " is no learning rate");
    }
  }
  go_to(detail::count_in(state, "steps", "a scheduler cannot have made"), std::move(begin));
}

}  // namespace xgrad::optim
