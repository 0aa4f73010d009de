// Adamax: one pass over a parameter for each step.
#include "adamax.h"

#include <cmath>

#include "../options.h"
#include "kernels/adam_kin.h"
#include "kernels/loops.h"

namespace xgrad::optim {

Adamax::Settings Adamax::settings(const Options& options) { return adam_settings(options); }

Adamax::Moments Adamax::moments(const Options&) { return {{"exp_avg"}, {"exp_inf", false}}; }

void Adamax::advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr) {
  const auto [b1, b2] = options.betas;
  const Real new_m = static_cast<Real>(1 - b1), old_u = static_cast<Real>(b2),
             rate = static_cast<Real>(lr / detail::bias_correction(b1, memory.steps + 1)),
             eps = static_cast<Real>(options.eps), pull = static_cast<Real>(options.weight_decay),
             sign = options.maximize ? -1 : 1;
  const auto formula = [=](Real& x, Real g, Real& m, Real& u) {
    g = sign * g + pull * x + 0 * g;  // NaN for infinity
    m += new_m * (g - m);
    const Real faded = old_u * u, now = std::abs(g) + eps;
    u = faded > now ? faded : now;
    x -= rate * m / u;
  };
  for_each_number(x, g, options.eps > 0, formula, memory.moments[0], memory.moments[1]);
}

}  // namespace xgrad::optim
