// One pass over a parameter for each step.
#include "rmsprop.h"

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"

namespace xgrad::optim {

RMSprop::RMSprop(const Tensors& parameters, const Options& options)
    : RMSprop(std::vector<Group>{{parameters, options}}) {}

RMSprop::RMSprop(const std::vector<Group>& groups) : Optimizer("rmsprop", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::below_one("rmsprop", "alpha", options.alpha);
    detail::not_negative("rmsprop", "eps", options.eps);
    detail::not_negative("rmsprop", "weight_decay", options.weight_decay);
    detail::not_negative("rmsprop", "momentum", options.momentum);
    options_.push_back(options);
    Moments moments{{"square_avg", false}};
    if (options.centered) moments.push_back({"grad_avg"});
    if (options.momentum > 0) moments.push_back({"momentum_buffer"});
    add_group(parameters, options.lr, moments,
              {{"alpha", options.alpha},
               {"eps", options.eps},
               {"weight_decay", options.weight_decay},
               {"momentum", options.momentum},
               {"centered", options.centered},
               {"maximize", options.maximize}});
  }
}

void RMSprop::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const RmspropNumbers c{.rate = static_cast<Real>(lr),
                         .old_v = static_cast<Real>(options.alpha),
                         .new_v = static_cast<Real>(1 - options.alpha),
                         .eps = static_cast<Real>(options.eps),
                         .momentum = static_cast<Real>(options.momentum),
                         .pull = static_cast<Real>(options.weight_decay),
                         .sign = static_cast<Real>(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const vs = memory.moments[0].mutable_data();
  Real* const means = options.centered ? memory.moments[1].mutable_data() : nullptr;
  Real* const bs = options.momentum > 0 ? memory.moments.back().mutable_data() : nullptr;
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    rmsprop_block(xs + begin, gs + begin, vs + begin, bs ? bs + begin : nullptr, means ? means + begin : nullptr,
                  end - begin, c);
  });
}

}  // namespace xgrad::optim
