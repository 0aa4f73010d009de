// One pass over a parameter for each step.
#include "nadam.h"

#include <cmath>

#include "../core/parallel.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"
#include "options.h"

namespace xgrad::optim {
namespace {

double momentum_of(std::int64_t t, const NAdamOptions& options) {
  return options.betas[0] * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * options.momentum_decay));
}

}  // namespace

NAdam::NAdam(const Tensors& parameters, const Options& options) : NAdam(std::vector<Group>{{parameters, options}}) {}

NAdam::NAdam(const std::vector<Group>& groups) : Optimizer("nadam") {
  for (const auto& [parameters, options] : groups) {
    detail::check_adam("nadam", options);
    detail::not_negative("nadam", "momentum_decay", options.momentum_decay);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"exp_avg"}, {"exp_avg_sq", false}, {"mu_product", false, 1, true}});
  }
}

void NAdam::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const auto [b1, b2] = options.betas;
  const std::int64_t t = memory.steps + 1;
  const double mu = momentum_of(t, options), next_mu = momentum_of(t + 1, options);
  Real& product = *memory.moments[2].mutable_data();
  product = static_cast<Real>(static_cast<double>(product) * mu);
  const double so_far = static_cast<double>(product);
  const auto real = [](double value) { return static_cast<Real>(value); };
  const NadamNumbers c{.new_m = real(1 - b1),
                       .old_v = real(b2),
                       .new_v = real(1 - b2),
                       .from_g = real(lr * (1 - mu) / (1 - so_far)),
                       .from_m = real(lr * next_mu / (1 - so_far * next_mu)),
                       .root = real(1 / std::sqrt(detail::bias_correction(b2, t))),
                       .eps = real(options.eps),
                       .shrink = real(options.decoupled_weight_decay ? 1 - lr * options.weight_decay : 1),
                       .pull = real(options.decoupled_weight_decay ? 0 : options.weight_decay),
                       .sign = real(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = memory.moments[0].mutable_data();
  Real* const vs = memory.moments[1].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    nadam_block(xs + begin, gs + begin, ms + begin, vs + begin, end - begin, c);
  });
}

}  // namespace xgrad::optim
