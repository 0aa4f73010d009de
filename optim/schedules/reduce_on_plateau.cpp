// Counts values of a metric that are no better than the best.
#include "reduce_on_plateau.h"

#include <algorithm>
#include <cmath>

#include "../options.h"

namespace xgrad::optim {

ReduceOnPlateau::ReduceOnPlateau(Optimizer& optimizer, const Options& options)
    : optimizer_(optimizer),
      options_(options),
      best_(options.mode == Better::lower ? std::numeric_limits<double>::infinity()
                                          : -std::numeric_limits<double>::infinity()) {
  constexpr const char* op = "reduce_on_plateau";
  detail::below_one(op, "factor", options.factor);
  if (options.patience < 0) fail<ValueError>(op, "patience ", options.patience, " is negative");
  if (options.cooldown < 0) fail<ValueError>(op, "cooldown ", options.cooldown, " is negative");
  detail::not_negative(op, "threshold", options.threshold);
  detail::not_negative(op, "min_lr", options.min_lr);
  detail::not_negative(op, "eps", options.eps);
}

bool ReduceOnPlateau::is_better(double metric) const {
  const double sign = options_.mode == Better::lower ? -1 : 1;
  if (std::isinf(best_)) return sign * metric > sign * best_;
  const bool relative = options_.threshold_mode == ThresholdMode::relative;
  const double limit =
      relative ? best_ * (1 + sign * std::copysign(options_.threshold, best_)) : best_ + sign * options_.threshold;
  return sign * metric > sign * limit;
}

bool ReduceOnPlateau::step(double metric) {
  if (std::isnan(metric)) fail<NumericError>("reduce_on_plateau", "the figure is NaN");
  if (is_better(metric)) {
    best_ = metric;
    bad_ = 0;
  } else {
    ++bad_;
  }
  if (cooling_ > 0) {
    --cooling_;
    bad_ = 0;
  }
  if (bad_ <= options_.patience) return false;
  cooling_ = options_.cooldown;
  bad_ = 0;
  bool reduced = false;
  for (auto& [initial, now] : optimizer_.rates_) {
    const double after = std::max(now * options_.factor, options_.min_lr);
    if (now - after <= options_.eps) continue;
    initial = after * (initial / now);
    now = after;
    reduced = true;
  }
  return reduced;
}

std::vector<NamedOption> ReduceOnPlateau::named_options() const {
  return {{"mode", static_cast<double>(options_.mode)},
          {"factor", options_.factor},
          {"patience", static_cast<double>(options_.patience)},
          {"threshold", options_.threshold},
          {"threshold_mode", static_cast<double>(options_.threshold_mode)},
          {"cooldown", static_cast<double>(options_.cooldown)},
          {"min_lr", options_.min_lr},
          {"eps", options_.eps}};
}

StateFile ReduceOnPlateau::state_dict() const {
  StateFile state{.arrays = {{"num_bad_epochs", Index({}, bad_)}, {"cooldown_counter", Index({}, cooling_)}},
                  .metadata = {{"best", str(best_)}}};
  detail::add_named_options(state, named_options());
  return state;
}

void ReduceOnPlateau::load_state_dict(const StateFile& state) {
  const double best = detail::number_in(state, "best", "figure");
  if (std::isnan(best)) detail::refuse(state, "the best figure is NaN");
  detail::check_named_options(state, named_options());
  const std::int64_t bad = detail::count_in(state, "num_bad_epochs", "reduce_on_plateau cannot have seen");
  cooling_ = detail::count_in(state, "cooldown_counter", "reduce_on_plateau cannot have seen");
  best_ = best;
  bad_ = bad;
}

}  // namespace xgrad::optim
