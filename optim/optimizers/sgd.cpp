// SGD: one pass over a parameter for each step.
#include "sgd.h"

#include "kernels/loops.h"

namespace xgrad::optim {

void SGD::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  const Real rate = static_cast<Real>(lr), decay = static_cast<Real>(options.weight_decay),
             old_b = static_cast<Real>(options.momentum),
             new_b = static_cast<Real>(state.steps == 0 ? 1 : 1 - options.dampening), from_g = options.nesterov ? 1 : 0,
             from_b = options.nesterov ? old_b : 1, sign = options.maximize ? -1 : 1;
  if (options.momentum == 0) {
    for_each_number(x, g, false, [=](Real& x, Real g) { x -= rate * (sign * g + decay * x); });
    return;
  }
  const auto formula = [=](Real& x, Real g, Real& b) {
    g = sign * g + decay * x;
    b = old_b * b + new_b * g;
    x -= rate * (from_g * g + from_b * b);
  };
  for_each_number(x, g, false, formula, state.moments[0]);
}

}  // namespace xgrad::optim
