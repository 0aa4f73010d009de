// One pass over a parameter for each step.
#include "asgd.h"

#include <algorithm>
#include <cmath>

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"

namespace xgrad::optim {

ASGD::ASGD(const Tensors& parameters, const Options& options) : ASGD(std::vector<Group>{{parameters, options}}) {}

ASGD::ASGD(const std::vector<Group>& groups) : Optimizer("asgd", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::not_negative("asgd", "lambd", options.lambd);
    detail::not_negative("asgd", "alpha", options.alpha);
    detail::not_negative("asgd", "t0", options.t0);
    detail::not_negative("asgd", "weight_decay", options.weight_decay);
    options_.push_back(options);
    add_group(parameters, options.lr, {{"ax"}, {"eta", false, 0, true}},
              {{"lambd", options.lambd},
               {"alpha", options.alpha},
               {"t0", options.t0},
               {"weight_decay", options.weight_decay},
               {"maximize", options.maximize}});
  }
}

void ASGD::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const double t = static_cast<double>(memory.steps + 1);
  Real& next_eta = *memory.moments[1].mutable_data();
  const double eta = memory.steps == 0 ? lr : static_cast<double>(next_eta);
  const AsgdNumbers c{.rate = static_cast<Real>(eta),
                      .shrink = static_cast<Real>(1 - options.lambd * eta),
                      .to_average = static_cast<Real>(1 / std::max(1.0, t - 1 - options.t0)),
                      .pull = static_cast<Real>(options.weight_decay),
                      .sign = static_cast<Real>(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const as = memory.moments[0].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    asgd_block(xs + begin, gs + begin, as + begin, end - begin, c);
  });
  next_eta = static_cast<Real>(lr / std::pow(1 + options.lambd * lr * t, options.alpha));
}

}  // namespace xgrad::optim
