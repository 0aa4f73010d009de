// NAdam: one pass over a parameter for each step.
#include "nadam.h"

#include <cmath>

#include "../options.h"
#include "kernels/adam_kin.h"
#include "kernels/loops.h"

namespace xgrad::optim {

namespace {

double momentum_of(std::int64_t t, const NAdamOptions& options) {
  return options.betas[0] * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * options.momentum_decay));
}

}  // namespace

NAdam::Settings NAdam::settings(const Options& options) {
  return adam_settings(options, {{"momentum_decay", options.momentum_decay, Setting::not_negative},
                                 {"decoupled_weight_decay", double(options.decoupled_weight_decay)}});
}

NAdam::Moments NAdam::moments(const Options&) {
  return {{"exp_avg"}, {"exp_avg_sq", false}, {"mu_product", false, 1, one_number}};
}

void NAdam::advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr) {
  const AdamNumbers c(options, lr);
  const std::int64_t t = memory.steps + 1;
  const double mu = momentum_of(t, options), next_mu = momentum_of(t + 1, options);
  Real& product = *memory.moments[2].mutable_data();
  product = static_cast<Real>(static_cast<double>(product) * mu);
  const double so_far = static_cast<double>(product);
  const Real from_g = static_cast<Real>(lr * (1 - mu) / (1 - so_far)),
             from_m = static_cast<Real>(lr * next_mu / (1 - so_far * next_mu)),
             root = static_cast<Real>(1 / std::sqrt(detail::bias_correction(options.betas[1], t)));
  const auto formula = [=](Real& x, Real g, Real& m, Real& v) {
    g = c.gradient(g, x);
    c.average(g, m, v);
    x = c.shrink * x - (from_g * g + from_m * m) / (std::sqrt(v) * root + c.eps);
  };
  for_each_number(x, g, options.eps > 0, formula, memory.moments[0], memory.moments[1]);
}

}  // namespace xgrad::optim
