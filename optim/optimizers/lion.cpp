// Lion: one pass over a parameter for each step.
#include "lion.h"

#include "kernels/loops.h"

namespace xgrad::optim {

void Lion::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  const auto real = [](double value) { return static_cast<Real>(value); };
  const auto [b1, b2] = options.betas;
  const Real rate = real(lr), shrink = real(1 - lr * options.weight_decay), step_m = real(b1), step_g = real(1 - b1),
             old_m = real(b2), new_m = real(1 - b2), sign = options.maximize ? -1 : 1;
  const auto formula = [=](Real& x, Real g, Real& m) {
    g = sign * g + 0 * g;  // NaN for infinity
    const Real way = step_m * m + step_g * g;
    x = shrink * x - rate * (way > 0 ? Real(1) : way < 0 ? Real(-1) : way);
    m = old_m * m + new_m * g;
  };
  for_each_number(x, g, true, formula, state.moments[0]);
}

}  // namespace xgrad::optim
