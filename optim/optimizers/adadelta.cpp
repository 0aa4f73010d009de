// One pass over a parameter for each step.
#include "adadelta.h"

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"

namespace xgrad::optim {

Adadelta::Adadelta(const Tensors& parameters, const Options& options)
    : Adadelta(std::vector<Group>{{parameters, options}}) {}

Adadelta::Adadelta(const std::vector<Group>& groups) : Optimizer("adadelta", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::below_one("adadelta", "rho", options.rho);
    detail::not_negative("adadelta", "eps", options.eps);
    detail::not_negative("adadelta", "weight_decay", options.weight_decay);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"square_avg", false}, {"acc_delta", false}},
              {{"rho", options.rho},
               {"eps", options.eps},
               {"weight_decay", options.weight_decay},
               {"maximize", options.maximize}});
  }
}

void Adadelta::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const AdadeltaNumbers c{.rate = static_cast<Real>(lr),
                          .old_part = static_cast<Real>(options.rho),
                          .new_part = static_cast<Real>(1 - options.rho),
                          .eps = static_cast<Real>(options.eps),
                          .pull = static_cast<Real>(options.weight_decay),
                          .sign = static_cast<Real>(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const vs = memory.moments[0].mutable_data();
  Real* const ds = memory.moments[1].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    adadelta_block(xs + begin, gs + begin, vs + begin, ds + begin, end - begin, c);
  });
}

}  // namespace xgrad::optim
