// One pass over a parameter for each step.
#include "adagrad.h"

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"

namespace xgrad::optim {

Adagrad::Adagrad(const Tensors& parameters, const Options& options)
    : Adagrad(std::vector<Group>{{parameters, options}}) {}

Adagrad::Adagrad(const std::vector<Group>& groups) : Optimizer("adagrad", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::not_negative("adagrad", "lr_decay", options.lr_decay);
    detail::not_negative("adagrad", "weight_decay", options.weight_decay);
    detail::not_negative("adagrad", "initial_accumulator_value", options.initial_accumulator_value);
    detail::not_negative("adagrad", "eps", options.eps);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"sum", false, static_cast<Real>(options.initial_accumulator_value)}},
              {{"lr_decay", options.lr_decay},
               {"weight_decay", options.weight_decay},
               {"initial_accumulator_value", options.initial_accumulator_value},
               {"eps", options.eps},
               {"maximize", options.maximize}});
  }
}

void Adagrad::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const double rate = lr / (1 + static_cast<double>(memory.steps) * options.lr_decay);
  const AdagradNumbers c{.rate = static_cast<Real>(rate),
                         .eps = static_cast<Real>(options.eps),
                         .pull = static_cast<Real>(options.weight_decay),
                         .sign = static_cast<Real>(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const sums = memory.moments[0].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    adagrad_block(xs + begin, gs + begin, sums + begin, end - begin, c);
  });
}

}  // namespace xgrad::optim
