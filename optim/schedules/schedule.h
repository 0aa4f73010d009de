// Learning-rate schedules: small values that give the rate of every step, and the Scheduler that applies them.
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

/// The learning rate of every step, counted from 0, as a function of a group's initial rate (Optimizer::initial_lr).
/// Throws ValueError for an empty function and for a negative step. Threads: as the function.
class [[nodiscard]] Schedule {
 public:
  /// Any formula of the step and the initial rate.
  template <class F>
  requires std::is_invocable_r_v<double, const F&, std::int64_t, double> Schedule(F lr) {
    xgrad::detail::refuse_empty("schedule", lr);
    lr_ = std::move(lr);
  }
  /// A function of the step alone is schedule::factor(f), or [f](std::int64_t step, double) { return f(step); }.
  template <class F>
  requires std::is_invocable_r_v<double, const F&, std::int64_t> Schedule(F)
  = delete;

  double lr(std::int64_t step, double initial) const;

 private:
  std::function<double(std::int64_t, double)> lr_;
};

/// The schedules. In their formulas lr is the rate that each group of the optimizer begins with. They throw ValueError
/// for a rate or a factor that is negative or not finite, and for a number of steps below 1.
namespace schedule {

/// lr f(step): PyTorch's LambdaLR. Throws ValueError for an empty function.
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
/// A straight line from start_factor lr to end_factor lr in total_iters steps, and end_factor lr afterwards: PyTorch's
/// LinearLR.
Schedule linear(const LinearScheduleOptions& options);

struct CosineOptions {
  double min_lr = 0;
  std::int64_t steps = 1000;
};
/// Half a cosine from lr to min_lr (a learning rate, not a factor), and min_lr afterwards:
/// min_lr + (lr - min_lr) (1 + cos(pi step / steps)) / 2. PyTorch's CosineAnnealingLR.
Schedule cosine(const CosineOptions& options);

struct NoamOptions {
  std::int64_t width = 512;
  std::int64_t warmup = 4000;
  double factor = 1;
};
/// Vaswani et al. 2017, a learning rate, with s = step + 1: factor width^-1/2 min(s^-1/2, s warmup^-3/2).
Schedule noam(const NoamOptions& options);

/// A straight line from 1/steps of the first rate of `then` to that rate in `steps` steps, afterwards `then` from its
/// step 0. The default for `then` is lr.
Schedule warmup(std::int64_t steps, const Schedule& then = factor([](std::int64_t) { return 1.0; }));

/// Several schedules in a row; schedule i + 1 begins with its step 0 at step milestones[i]: PyTorch's SequentialLR.
/// Throws ValueError unless the milestones are positive, increasing, and one fewer than the schedules.
Schedule sequential(const std::vector<Schedule>& schedules, const std::vector<std::int64_t>& milestones);

}  // namespace schedule

/// Sets the learning rates of an optimizer by a schedule, in the constructor and in every step(). The optimizer must
/// outlive the scheduler. Threads: one at a time, together with its optimizer.
class Scheduler {
 public:
  /// Throws as step().
  Scheduler(Optimizer& optimizer, Schedule schedule);

  /// To be called after each step of the optimizer. Throws what the schedule throws, and ValueError if it gives a rate
  /// that is negative or not finite; then nothing has changed.
  void step();
  /// The number of steps so far.
  std::int64_t steps() const { return steps_; }
  /// The first group's current rate.
  double lr() const { return schedule_.lr(steps_, optimizer_.initial_lr()); }

  /// The number of steps, for a checkpoint. The rates that the groups begin with are in the optimizer's state.
  StateFile state_dict() const;
  /// Restores a state; a state of version 0.1 also sets the optimizer's initial rates. Throws FormatError, also for a
  /// count that is negative or beyond 2^53 and for a rate that is negative or not finite, and what step() throws; then
  /// nothing has changed.
  void load_state_dict(const StateFile& state);

 private:
  void go_to(std::int64_t steps, const std::vector<double>& initial);
  std::vector<double> initial() const;

  Optimizer& optimizer_;
  Schedule schedule_;
  std::int64_t steps_ = 0;
};

}  // namespace xgrad::optim
