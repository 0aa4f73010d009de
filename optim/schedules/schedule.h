// Learning-rate schedules: functions that give the learning rate of every step, and the Scheduler that applies them.
//
//     optim::AdamW adam{model.parameters(), {.lr = 3e-4}};
//     optim::Scheduler scheduler{adam, optim::schedule::warmup(100, optim::schedule::cosine({.steps = 5000}))};
//     for (int step = 0; step < 5000; ++step) {
//       adam.step(grad(loss, model.parameters()));
//       scheduler.step();
//     }
#pragma once

#include <functional>
#include <vector>

#include "../../core/base/error.h"
#include "../optimizers/optimizer.h"

namespace xgrad::optim {

/// The learning rate of every step, counted from 0, as a function of the initial rate of a group
/// (Optimizer::initial_lr). Throws ValueError for an empty function and for a negative step. Threads: thread-safe if
/// the function is.
class [[nodiscard]] Schedule {
 public:
  /// Makes a schedule from any function of the step and the initial rate.
  template <class F>
  requires std::is_invocable_r_v<double, const F&, std::int64_t, double> Schedule(F lr) {
    xgrad::detail::refuse_empty("schedule", lr);
    lr_ = std::move(lr);
  }
  /// For a function f of the step alone, write schedule::factor(f) for the rate lr f(step), or
  /// [f](std::int64_t step, double) { return f(step); } for the rate f(step).
  template <class F>
  requires std::is_invocable_r_v<double, const F&, std::int64_t> Schedule(F)
  = delete;

  double lr(std::int64_t step, double initial) const;

 private:
  std::function<double(std::int64_t, double)> lr_;
};

/// The schedules. In their formulas lr is the initial rate of a group of the optimizer. They throw ValueError for a
/// rate or a factor that is negative or not finite, and for a number of steps below 1.
namespace schedule {

/// lr f(step), as PyTorch's LambdaLR. Throws ValueError for an empty function.
template <class F>
requires std::is_invocable_r_v<double, const F&, std::int64_t> Schedule factor(F f) {
  xgrad::detail::refuse_empty("factor", f);
  return [f = std::move(f)](std::int64_t step, double lr) { return lr * f(step); };
}

struct LinearScheduleOptions {
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;
};
/// A straight line from start_factor lr to end_factor lr in total_iters steps, then constant end_factor lr, as
/// PyTorch's LinearLR.
Schedule linear(const LinearScheduleOptions& options);

struct CosineOptions {
  double min_lr = 0;
  std::int64_t steps = 1000;
};
/// Half a cosine from lr to min_lr, then constant min_lr, as PyTorch's CosineAnnealingLR:
/// min_lr + (lr - min_lr) (1 + cos(pi step / steps)) / 2. min_lr is a learning rate, not a factor.
Schedule cosine(const CosineOptions& options);

struct NoamOptions {
  std::int64_t width = 512;
  std::int64_t warmup = 4000;
  double factor = 1;
};
/// factor width^-1/2 min(s^-1/2, s warmup^-3/2), s = step + 1 (Vaswani et al. 2017). The result does not depend on lr.
Schedule noam(const NoamOptions& options);

/// A linear increase in `steps` steps, from 1/steps of the first rate of `then` to that rate. Afterwards `then` starts
/// at its step 0; by default it is constant lr.
Schedule warmup(std::int64_t steps, const Schedule& then = factor([](std::int64_t) { return 1.0; }));

/// Several schedules, one after the other: schedule i + 1 starts with its step 0 at step milestones[i], as PyTorch's
/// SequentialLR. Throws ValueError unless the milestones are positive, increasing, and one fewer than the schedules.
Schedule sequential(const std::vector<Schedule>& schedules, const std::vector<std::int64_t>& milestones);

}  // namespace schedule

/// Sets the learning rates of an optimizer by a schedule, in the constructor and in every step(). The optimizer must
/// outlive the scheduler. Threads: one thread at a time for both.
class Scheduler {
 public:
  /// Sets the rates of step 0. Throws what step() throws.
  Scheduler(Optimizer& optimizer, Schedule schedule);

  /// Sets the rates of the next step; call it after each step of the optimizer. Throws what the schedule throws, and
  /// ValueError for a rate that is negative or not finite. If it throws, nothing is changed.
  void step();
  /// The number of steps so far.
  std::int64_t steps() const { return steps_; }
  /// The current rate of the first group.
  double lr() const { return schedule_.lr(steps_, optimizer_.initial_lr()); }

  /// The number of steps, for a checkpoint. The initial rates of the groups are in the state of the optimizer.
  StateFile state_dict() const;
  /// Restores a state; a state of version 0.1 also sets the initial rates of the optimizer. Throws FormatError for a
  /// number of steps that is negative or above 2^53 or a rate that is negative or not finite, and what step() throws.
  /// If it throws, nothing is changed.
  void load_state_dict(const StateFile& state);

 private:
  void go_to(std::int64_t steps, const std::vector<double>& initial);
  std::vector<double> initial() const;

  Optimizer& optimizer_;
  Schedule schedule_;
  std::int64_t steps_ = 0;
};

}  // namespace xgrad::optim
