// One pass over a parameter for each step.
#include "nadam.h"

#include <cmath>

#include "kernels/adam_kin.h"
#include "../options.h"

namespace xgrad::optim {
namespace {

double momentum_of(std::int64_t t, const NAdamOptions& options) {
  return options.betas[0] * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * options.momentum_decay));
}

}  // namespace

NAdam::NAdam(const Tensors& parameters, const Options& options) : NAdam(std::vector<Group>{{parameters, options}}) {}

NAdam::NAdam(const std::vector<Group>& groups) : Optimizer("nadam", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::check_adam("nadam", options);
    detail::not_negative("nadam", "momentum_decay", options.momentum_decay);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"exp_avg"}, {"exp_avg_sq", false}, {"mu_product", false, 1, true}},
              detail::adam_settings(options, {{"momentum_decay", options.momentum_decay},
                                              {"decoupled_weight_decay", options.decoupled_weight_decay}}));
  }
}

void NAdam::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const double b2 = options.betas[1];
  const std::int64_t t = memory.steps + 1;
  const double mu = momentum_of(t, options), next_mu = momentum_of(t + 1, options);
  Real& product = *memory.moments[2].mutable_data();
  product = static_cast<Real>(static_cast<double>(product) * mu);
  const double so_far = static_cast<double>(product);
  const auto real = [](double value) { return static_cast<Real>(value); };
  const NadamNumbers c{detail::adam_kin_numbers(options, lr), real(lr * (1 - mu) / (1 - so_far)),
                       real(lr * next_mu / (1 - so_far * next_mu)), real(1 / std::sqrt(detail::bias_correction(b2, t)))};
  detail::for_adam_blocks(x, g, memory.moments, c, nadam_block);
}

}  // namespace xgrad::optim
