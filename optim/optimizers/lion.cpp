// One pass over a parameter for each step.
#include "lion.h"

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"

namespace xgrad::optim {

Lion::Lion(const Tensors& parameters, const Options& options) : Lion(std::vector<Group>{{parameters, options}}) {}

Lion::Lion(const std::vector<Group>& groups) : Optimizer("lion", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::below_one("lion", "betas[0]", options.betas[0]);
    detail::below_one("lion", "betas[1]", options.betas[1]);
    detail::not_negative("lion", "weight_decay", options.weight_decay);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"exp_avg"}},
              {{"betas[0]", options.betas[0]},
               {"betas[1]", options.betas[1]},
               {"weight_decay", options.weight_decay},
               {"maximize", options.maximize}});
  }
}

void Lion::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const auto [b1, b2] = options.betas;
  const auto real = [](double value) { return static_cast<Real>(value); };
  const LionNumbers c{.rate = real(lr),
                      .shrink = real(1 - lr * options.weight_decay),
                      .step_m = real(b1),
                      .step_g = real(1 - b1),
                      .old_m = real(b2),
                      .new_m = real(1 - b2),
                      .sign = real(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = memory.moments[0].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    lion_block(xs + begin, gs + begin, ms + begin, end - begin, c);
  });
}

}  // namespace xgrad::optim
