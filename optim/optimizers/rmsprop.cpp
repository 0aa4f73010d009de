// RMSprop: one pass over a parameter for each step.
#include "rmsprop.h"

#include <cmath>

#include "kernels/loops.h"

namespace xgrad::optim {

void RMSprop::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  const Real rate = static_cast<Real>(lr), old_v = static_cast<Real>(options.alpha),
             new_v = static_cast<Real>(1 - options.alpha), eps = static_cast<Real>(options.eps),
             momentum = static_cast<Real>(options.momentum), pull = static_cast<Real>(options.weight_decay),
             sign = options.maximize ? -1 : 1;
  // v moves towards g^2; the divisor is its root, with a mean that of v - mean^2.
  const auto quotient = [=](Real x, Real g, Real& v) {
    g = clamp_for_square(sign * g + pull * x);
    v = old_v * v + new_v * g * g;
    return g / (std::sqrt(v) + eps);
  };
  const auto centered = [=](Real x, Real g, Real& v, Real& mean) {
    g = clamp_for_square(sign * g + pull * x);
    v = old_v * v + new_v * g * g;
    mean += new_v * (g - mean);
    const Real variance = v - mean * mean;
    return g / (std::sqrt(variance < 0 ? 0 : variance) + eps);  // below 0 by rounding
  };
  const auto moved = [=](Real& x, Real step, Real& b) {
    b = momentum * b + step;
    x -= rate * b;
  };
  const bool flush = options.eps > 0;
  Array &v = state.moments[0], &b = state.moments.back();
  if (options.centered && options.momentum > 0) {
    for_each_number(
        x, g, flush, [=](Real& x, Real g, Real& v, Real& mean, Real& b) { moved(x, centered(x, g, v, mean), b); }, v,
        state.moments[1], b);
  } else if (options.centered) {
    for_each_number(
        x, g, flush, [=](Real& x, Real g, Real& v, Real& mean) { x -= rate * centered(x, g, v, mean); }, v,
        state.moments[1]);
  } else if (options.momentum > 0) {
    for_each_number(
        x, g, flush, [=](Real& x, Real g, Real& v, Real& b) { moved(x, quotient(x, g, v), b); }, v, b);
  } else {
    for_each_number(
        x, g, flush, [=](Real& x, Real g, Real& v) { x -= rate * quotient(x, g, v); }, v);
  }
}

}  // namespace xgrad::optim
