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
    requires std::is_invocable_r_v<double, const F&, std::int64_t>
  Schedule(F lr) : lr_(std::move(lr)) {
    xgrad::detail::refuse_empty("schedule", lr_);
  }

  double lr(std::int64_t step) const {
    if (step < 0) fail<ValueError>("schedule", "step ", step, " is negative");
    return lr_(step);
  }

 private:
  std::function<double(std::int64_t)> lr_;
};

/// The same rate always. This and all below throw ValueError for a rate or a factor that is negative or not finite, and
/// for a number of steps below 1.
Schedule constant(double lr);

struct ConstantOptions {
  double lr = 1e-3;
  double factor = 1.0 / 3;
  std::int64_t total_iters = 5;
};
/// factor lr for total_iters steps, then lr: PyTorch's ConstantLR.
Schedule constant(const ConstantOptions& options);

struct LinearScheduleOptions {
  double lr = 1e-3;
  double start_factor = 1.0 / 3;
  double end_factor = 1;
  std::int64_t total_iters = 5;
};
/// A straight line from start_factor lr to end_factor lr in total_iters steps, and the latter from then on: PyTorch's
/// LinearLR.
Schedule linear(const LinearScheduleOptions& options);

struct PolynomialOptions {
  double lr = 1e-3;
  std::int64_t total_iters = 5;
  double power = 1;
};
/// lr (1 - step / total_iters)^power, and 0 from then on: PyTorch's PolynomialLR.
Schedule polynomial(const PolynomialOptions& options);

struct ExponentialOptions {
  double lr = 1e-3;
  double gamma = 0.95;
};
/// lr gamma^step: PyTorch's ExponentialLR.
Schedule exponential(const ExponentialOptions& options);

struct MultiStepOptions {
  double lr = 1e-3;
  std::vector<std::int64_t> milestones = {};
  double gamma = 0.1;
};
/// lr gamma^(how many milestones the step has reached): PyTorch's MultiStepLR. A milestone that stands twice counts
/// twice. Throws ValueError, too, for milestones that do not rise, that are negative, or none at all.
Schedule multi_step(const MultiStepOptions& options);

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

struct CosineRestartsOptions {
  double lr = 1e-3;
  double min_lr = 0;
  std::int64_t steps = 1000;  ///< of the first cosine; PyTorch's T_0
  std::int64_t growth = 1;    ///< how many times longer each is than the one before; PyTorch's T_mult
};
/// SGDR, Loshchilov and Hutter 2017: half a cosine from lr down to min_lr, then from lr again: PyTorch's
/// CosineAnnealingWarmRestarts.
Schedule cosine_warm_restarts(const CosineRestartsOptions& options);

/// The curve between two rates.
enum class Anneal { cosine, linear };

struct OneCycleOptions {
  double max_lr = 1e-2;
  std::int64_t total_steps = 1000;
  double pct_start = 0.3;  ///< the part of the steps in which the rate rises
  Anneal anneal_strategy = Anneal::cosine;
  double div_factor = 25;         ///< max_lr over the first rate
  double final_div_factor = 1e4;  ///< the first rate over the last
  bool three_phase = false;       ///< falls to the first rate as it rose, then to the last
};
/// Smith and Topin 2018: from max_lr / div_factor up to max_lr, then down to max_lr / div_factor / final_div_factor,
/// which step total_steps - 1 has and all after it: PyTorch's OneCycleLR with cycle_momentum=False. Throws ValueError,
/// too, for a pct_start that leaves a phase less than a step, and factors below or equal to 0.
Schedule one_cycle(const OneCycleOptions& options);

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

/// lr factor(step): PyTorch's LambdaLR. Any function is a factor, `lambda(0.1, [](std::int64_t step) { return ...; })`,
/// and so is any schedule made with .lr = 1.
Schedule lambda(double lr, const Schedule& factor);

/// The product of all: a rate, times what the others, made with .lr = 1, leave of it. PyTorch's ChainedScheduler of
/// schedulers that multiply. Throws ValueError for an empty list.
Schedule chained(const std::vector<Schedule>& schedules);

/// One after the other: schedule i + 1 begins, with its step 0, at step milestones[i]: PyTorch's SequentialLR. Throws
/// ValueError unless the milestones rise from above 0 and are one less than the schedules.
Schedule sequential(const std::vector<Schedule>& schedules, const std::vector<std::int64_t>& milestones);

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
