// One pass over a parameter for each step.
#include "rprop.h"

#include <algorithm>
#include <cmath>

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/adaptive.h"
#include "kernels/update.h"

namespace xgrad::optim {

Rprop::Rprop(const Tensors& parameters, const Options& options) : Rprop(std::vector<Group>{{parameters, options}}) {}

Rprop::Rprop(const std::vector<Group>& groups) : Optimizer("rprop", groups) {
  for (const auto& [parameters, options] : groups) {
    const auto [down, up] = options.etas;
    if (!(0 < down && down < 1 && 1 < up && std::isfinite(up))) {
      fail<ValueError>("rprop", "etas ", down, " and ", up, " are not below and above 1");
    }
    const auto [shortest, longest] = options.step_sizes;
    if (!(0 <= shortest && shortest <= longest && std::isfinite(longest))) {
      fail<ValueError>("rprop", "step_sizes from ", shortest, " to ", longest);
    }
    options_.push_back(options);
    add_group(parameters, options.lr, {{"prev"}, {"step_size", false}},
              {{"etas[0]", down},
               {"etas[1]", up},
               {"step_sizes[0]", shortest},
               {"step_sizes[1]", longest},
               {"maximize", options.maximize}});
  }
}

void Rprop::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  const RpropNumbers c{.down = static_cast<Real>(options.etas[0]),
                       .up = static_cast<Real>(options.etas[1]),
                       .shortest = static_cast<Real>(options.step_sizes[0]),
                       .longest = static_cast<Real>(options.step_sizes[1]),
                       .sign = static_cast<Real>(options.maximize ? -1 : 1)};
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const before = memory.moments[0].mutable_data();
  Real* const lengths = memory.moments[1].mutable_data();
  if (memory.steps == 0) std::fill_n(lengths, x.size(), static_cast<Real>(lr));
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    rprop_block(xs + begin, gs + begin, before + begin, lengths + begin, end - begin, c);
  });
}

}  // namespace xgrad::optim
