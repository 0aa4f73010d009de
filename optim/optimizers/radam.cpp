// RAdam: one pass over a parameter for each step.
#include "radam.h"

#include <cmath>

#include "../options.h"
#include "kernels/adam_kin.h"
#include "kernels/loops.h"

namespace xgrad::optim {

RAdam::Settings RAdam::settings(const Options& options) {
  return adam_settings(options, {{"decoupled_weight_decay", double(options.decoupled_weight_decay)}});
}

RAdam::Moments RAdam::moments(const Options&) { return {{"exp_avg"}, {"exp_avg_sq", false}}; }

void RAdam::advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr) {
  const AdamNumbers c(options, lr);
  const auto [b1, b2] = options.betas;
  const std::int64_t t = memory.steps + 1;
  const double left = detail::bias_correction(b2, t), most = 2 / (1 - b2) - 1;
  const double seen = most - 2 * static_cast<double>(t) * (1 - left) / left;
  const bool adaptive = seen > 5;
  const double part =
      adaptive ? std::sqrt(left * (seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen)) : 1;
  const Real rate = static_cast<Real>(lr * part / detail::bias_correction(b1, t));
  const auto adapted = [=](Real& x, Real g, Real& m, Real& v) {
    c.average(c.gradient(g, x), m, v);
    x = c.shrink * x - rate * (m / (std::sqrt(v) + c.eps));
  };
  const auto plain = [=](Real& x, Real g, Real& m, Real& v) {
    c.average(c.gradient(g, x), m, v);
    x = c.shrink * x - rate * m;
  };
  Array &m = memory.moments[0], &v = memory.moments[1];
  adaptive ? for_each_number(x, g, options.eps > 0, adapted, m, v)
           : for_each_number(x, g, options.eps > 0, plain, m, v);
}

}  // namespace xgrad::optim
