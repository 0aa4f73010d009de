// Adam and AdamW: one pass over a parameter for each step.
#include "adam.h"

#include <cmath>
#include <type_traits>

#include "../options.h"
#include "kernels/loops.h"

namespace xgrad::optim {
namespace {

// With the weight decay that shrinks x, and the one that adds to the gradient.
template <class Options>
void advance_adam(Array& x, const Array& g, std::vector<Array>& moments, const Options& options, std::int64_t t,
                  double lr, double shrinking, double pulling) {
  const auto real = [](double value) { return static_cast<Real>(value); };
  const auto [b1, b2] = options.betas;
  const Real old_m = real(b1), new_m = real(1 - b1), old_v = real(b2), new_v = real(1 - b2),
             rate = real(lr / detail::bias_correction(b1, t)),
             root = real(1 / std::sqrt(detail::bias_correction(b2, t))), eps = real(options.eps),
             shrink = real(shrinking), pull = real(pulling), sign = options.maximize ? -1 : 1;
  const auto step = [&](auto from_g) {
    // m moves towards g by steps of 1 - b1 from where it was, or, if that is more than half the way, from g back by
    // steps of b1: m is g then when b1 is 0.
    const auto average = [=](Real x, Real g, Real& m, Real& v) {
      g = clamp_for_square(sign * g + pull * x);
      m = from_g ? g - old_m * (g - m) : m + new_m * (g - m);
      v = old_v * v + new_v * g * g;
    };
    const auto move = [=](Real& x, Real m, Real v) { x = shrink * x - rate * m / (std::sqrt(v) * root + eps); };
    if (options.amsgrad) {
      const auto formula = [=](Real& x, Real g, Real& m, Real& v, Real& largest_v) {
        average(x, g, m, v);
        largest_v = largest_v > v ? largest_v : v;
        move(x, m, largest_v);
      };
      for_each_number(x, g, eps > 0, formula, moments[0], moments[1], moments[2]);
    } else {
      const auto formula = [=](Real& x, Real g, Real& m, Real& v) {
        average(x, g, m, v);
        move(x, m, v);
      };
      for_each_number(x, g, eps > 0, formula, moments[0], moments[1]);
    }
  };
  old_m < new_m ? step(std::true_type()) : step(std::false_type());
}

}  // namespace

void Adam::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  advance_adam(x, g, state.moments, options, state.steps + 1, lr, 1, options.weight_decay);
}

void AdamW::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  advance_adam(x, g, state.moments, options, state.steps + 1, lr, 1 - lr * options.weight_decay, 0);
}

}  // namespace xgrad::optim
