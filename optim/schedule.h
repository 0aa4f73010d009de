// Learning-rate schedules: small values that know the rate of every step, and the holder that applies them.
//
//     optim::AdamW adam{model.parameters(), {}};
//     optim::Scheduler scheduler{adam, optim::warmup(100, optim::cosine({.lr = 3e-4, .steps = 5000}))};
//     for (int step = 0; step < 5000; ++step) {
//       adam.step(grad(loss, model.parameters()));
//       scheduler.step();
//     }
#pragma once

#include <functional>
#include <vector>

#include "../core/callable.h"
#include "optimizer.h"

namespace xgrad::optim {

/// A learning rate for every step; steps count from 0. Any function of the step is one. Throws ValueError for an empty
/// function and for a negative step.
/// Threads: many may ask, if they may call the function.
class Schedule {
 public:
  template <class F>
  requires std::is_invocable_r_v<double, const F&, std::int64_t> Schedule(F lr) : lr_(std::move(lr)) {
    xgrad::detail::refuse_empty("schedule", lr_);
  }

  double lr(std::int64_t step) const {
    if (step < 0) fail<ValueError>("schedule", "step ", step, " is negative");
    return lr_(step);
  }

 private:
  std::function<double(std::int64_t)> lr_;
};

/// The same rate always. This and all below throw ValueError for a rate that is negative or not finite, and for a
/// number of steps below 1.
Schedule constant(double lr);

struct StepDecayOptions {
  double lr = 1e-3;
  std::int64_t every = 1000;
  double factor = 0.1;
};
/// lr factor^floor(step / every)
Schedule step_decay(const StepDecayOptions& options);

struct CosineOptions {
  double lr = 1e-3;
  double min_lr = 0;
  std::int64_t steps = 1000;
};
/// Half a cosine from lr down to min_lr, and min_lr from then on:
/// min_lr + (lr - min_lr) (1 + cos(pi step / steps)) / 2.
Schedule cosine(const CosineOptions& options);

struct NoamOptions {
  std::int64_t width = 512;
  std::int64_t warmup = 4000;
  double factor = 1;
};
/// Vaswani et al. 2017, with s = step + 1: factor width^-1/2 min(s^-1/2, s warmup^-3/2).
Schedule noam(const NoamOptions& options);

/// A straight line up to the first rate of `then` in `steps` steps, from 1/steps of it on; then `then` from its
/// beginning.
Schedule warmup(std::int64_t steps, const Schedule& then);

/// Sets an optimizer's learning rates, from its birth on and after every step. Groups with another rate than the first
/// keep that proportion. The optimizer must outlive it. Threads: one at a time, together with its optimizer.
class Scheduler {
 public:
  /// Throws ValueError if the first group's rate is 0 and another's is not, and as step().
  Scheduler(Optimizer& optimizer, Schedule schedule);

  /// To be called after each step of the optimizer. Throws what the schedule throws, and ValueError if it gives a rate
  /// that is negative or not finite; then nothing has changed.
  void step();
  /// How many steps there were.
  std::int64_t steps() const { return steps_; }
  /// The first group's current rate.
  double lr() const { return schedule_.lr(steps_); }

  /// The number of steps, for a checkpoint.
  StateFile state_dict() const;
  /// Goes on where a state was taken. Throws FormatError, also for a count that is negative or beyond 2^53, and as
  /// step(); then nothing has changed.
  void load_state_dict(const StateFile& state);

 private:
  void go_to(std::int64_t steps);

  Optimizer& optimizer_;
  Schedule schedule_;
  std::vector<double> proportions_;
  std::int64_t steps_ = 0;
};

}  // namespace xgrad::optim
