// One pass over a parameter for each step.
#include "adamax.h"

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"

namespace xgrad::optim {

Adamax::Adamax(const Tensors& parameters, const Options& options) : Adamax(std::vector<Group>{{parameters, options}}) {}

Adamax::Adamax(const std::vector<Group>& groups) : Optimizer("adamax", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::check_adam("adamax", options);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"exp_avg"}, {"exp_inf", false}}, detail::adam_settings(options));
  }
}

void Adamax::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const auto [b1, b2] = options.betas;
  const AdamaxNumbers c{.new_m = static_cast<Real>(1 - b1),
                        .old_u = static_cast<Real>(b2),
                        .rate = static_cast<Real>(lr / detail::bias_correction(b1, memory.steps + 1)),
                        .eps = static_cast<Real>(options.eps),
                        .pull = static_cast<Real>(options.weight_decay),
                        .sign = static_cast<Real>(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = memory.moments[0].mutable_data();
  Real* const us = memory.moments[1].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    adamax_block(xs + begin, gs + begin, ms + begin, us + begin, end - begin, c);
  });
}

}  // namespace xgrad::optim
