// One pass over a parameter for each step.
#include "sgd.h"

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/update.h"

namespace xgrad::optim {

SGD::SGD(const Tensors& parameters, const Options& options) : SGD(std::vector<Group>{{parameters, options}}) {}

SGD::SGD(const std::vector<Group>& groups) : Optimizer("sgd", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::not_negative("sgd", "momentum", options.momentum);
    detail::not_negative("sgd", "dampening", options.dampening);
    detail::not_negative("sgd", "weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
      fail<ValueError>("sgd", "nesterov needs momentum and no dampening, got momentum ", options.momentum,
                       " and dampening ", options.dampening);
    }
    options_.push_back(options);
    add_group(parameters, options.lr, options.momentum != 0 ? Moments{{"momentum_buffer"}} : Moments{},
              {{"momentum", options.momentum},
               {"dampening", options.dampening},
               {"weight_decay", options.weight_decay},
               {"nesterov", options.nesterov},
               {"maximize", options.maximize}});
  }
}

void SGD::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const SgdNumbers c{.rate = static_cast<Real>(lr),
                     .decay = static_cast<Real>(options.weight_decay),
                     .old_b = static_cast<Real>(options.momentum),
                     .new_b = static_cast<Real>(memory.steps == 0 ? 1 : 1 - options.dampening),
                     .from_g = static_cast<Real>(options.nesterov ? 1 : 0),
                     .from_b = static_cast<Real>(options.nesterov ? options.momentum : 1),
                     .maximize = options.maximize};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const bs = options.momentum != 0 ? memory.moments[0].mutable_data() : nullptr;
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    if (bs) {
      sgd_momentum_block(xs + begin, gs + begin, bs + begin, end - begin, c);
    } else {
      sgd_block(xs + begin, gs + begin, end - begin, c);
    }
  });
}

}  // namespace xgrad::optim
