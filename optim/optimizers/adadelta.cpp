// Adadelta: one pass over a parameter for each step.
#include "adadelta.h"

#include <cmath>

#include "kernels/loops.h"

namespace xgrad::optim {

void Adadelta::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  const Real rate = static_cast<Real>(lr), old_part = static_cast<Real>(options.rho),
             new_part = static_cast<Real>(1 - options.rho), eps = static_cast<Real>(options.eps),
             pull = static_cast<Real>(options.weight_decay), sign = options.maximize ? -1 : 1;
  const auto formula = [=](Real& x, Real g, Real& v, Real& d) {
    g = clamp_for_square(sign * g + pull * x);
    v = old_part * v + new_part * g * g;
    const Real step = std::sqrt(d + eps) / std::sqrt(v + eps) * g;
    d = old_part * d + new_part * step * step;
    x -= rate * step;
  };
  for_each_number(x, g, options.eps > 0, formula, state.moments[0], state.moments[1]);
}

}  // namespace xgrad::optim
