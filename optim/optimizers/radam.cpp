// One pass over a parameter for each step.
#include "radam.h"

#include <cmath>

#include "../options.h"
#include "kernels/adam_kin.h"

namespace xgrad::optim {

RAdam::RAdam(const Tensors& parameters, const Options& options) : RAdam(std::vector<Group>{{parameters, options}}) {}

RAdam::RAdam(const std::vector<Group>& groups) : Optimizer("radam", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::check_adam("radam", options);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"exp_avg"}, {"exp_avg_sq", false}},
              detail::adam_settings(options, {{"decoupled_weight_decay", options.decoupled_weight_decay}}));
  }
}

void RAdam::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const auto [b1, b2] = options.betas;
  const std::int64_t t = memory.steps + 1;
  const double left = detail::bias_correction(b2, t), most = 2 / (1 - b2) - 1;
  const double seen = most - 2 * static_cast<double>(t) * (1 - left) / left;
  const bool adaptive = seen > 5;
  const double part =
      adaptive ? std::sqrt(left * (seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen)) : 1;
  const RadamNumbers c{detail::adam_kin_numbers(options, lr), adaptive,
                       static_cast<Real>(lr * part / detail::bias_correction(b1, t))};
  detail::for_adam_blocks(x, g, memory.moments, c, radam_block);
}

}  // namespace xgrad::optim
