// Adagrad: one pass over a parameter for each step.
#include "adagrad.h"

#include <cmath>
#include <limits>

#include "kernels/loops.h"

namespace xgrad::optim {

void Adagrad::advance(Array& x, const Array& g, State& state, const Options& options, double lr) {
  constexpr Real largest = std::numeric_limits<Real>::max();
  const Real rate = static_cast<Real>(lr / (1 + static_cast<double>(state.steps) * options.lr_decay)),
             eps = static_cast<Real>(options.eps), pull = static_cast<Real>(options.weight_decay),
             sign = options.maximize ? -1 : 1;
  const auto formula = [=](Real& x, Real g, Real& sum) {
    g = clamp_for_square(sign * g + pull * x);
    const Real grown = sum + g * g;
    sum = grown > largest ? largest : grown;
    x -= rate * g / (std::sqrt(sum) + eps);
  };
  for_each_number(x, g, options.eps > 0, formula, state.moments[0]);
}

}  // namespace xgrad::optim
