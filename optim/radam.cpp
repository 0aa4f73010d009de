// One pass over a parameter for each step.
#include "radam.h"

#include <cmath>

#include "../core/parallel.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"
#include "options.h"

namespace xgrad::optim {

RAdam::RAdam(const Tensors& parameters, const Options& options) : RAdam(std::vector<Group>{{parameters, options}}) {}

RAdam::RAdam(const std::vector<Group>& groups) : Optimizer("radam") {
  for (const auto& [parameters, options] : groups) {
    detail::check_adam("radam", options);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"exp_avg"}, {"exp_avg_sq", false}});
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
  const auto real = [](double value) { return static_cast<Real>(value); };
  const RadamNumbers c{.new_m = real(1 - b1),
                       .old_v = real(b2),
                       .new_v = real(1 - b2),
                       .adaptive = adaptive,
                       .rate = real(lr * part / detail::bias_correction(b1, t)),
                       .eps = real(options.eps),
                       .shrink = real(options.decoupled_weight_decay ? 1 - lr * options.weight_decay : 1),
                       .pull = real(options.decoupled_weight_decay ? 0 : options.weight_decay),
                       .sign = real(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = memory.moments[0].mutable_data();
  Real* const vs = memory.moments[1].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    radam_block(xs + begin, gs + begin, ms + begin, vs + begin, end - begin, c);
  });
}

}  // namespace xgrad::optim
