// Rprop: one pass over a parameter for each step.
#include "rprop.h"

#include <algorithm>
#include <cmath>

#include "../options.h"
#include "kernels/loops.h"

namespace xgrad::optim {

Rprop::Settings Rprop::settings(const Options& options) {
  const auto [down, up] = options.etas;
  if (!(0 < down && down < 1 && 1 < up && std::isfinite(up))) {
    fail<ValueError>(kind, "etas ", down, " and ", up, " are not below and above 1");
  }
  const auto [shortest, longest] = options.step_sizes;
  if (!(0 <= shortest && shortest <= longest && std::isfinite(longest))) {
    fail<ValueError>(kind, "step_sizes from ", shortest, " to ", longest);
  }
  return {{"etas[0]", down},
          {"etas[1]", up},
          {"step_sizes[0]", shortest},
          {"step_sizes[1]", longest},
          {"maximize", double(options.maximize)}};
}

Rprop::Moments Rprop::moments(const Options&) { return {{"prev"}, {"step_size", false}}; }

void Rprop::advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr) {
  const Real down = static_cast<Real>(options.etas[0]), up = static_cast<Real>(options.etas[1]),
             shortest = static_cast<Real>(options.step_sizes[0]), longest = static_cast<Real>(options.step_sizes[1]),
             sign = options.maximize ? -1 : 1;
  Array &before = memory.moments[0], &lengths = memory.moments[1];
  if (memory.steps == 0) std::fill_n(lengths.mutable_data(), x.size(), static_cast<Real>(lr));
  const auto formula = [=](Real& x, Real g, Real& before, Real& length) {
    g = sign * g + 0 * g;  // NaN for infinity
    const Real turn = g * before;
    const Real grown = length * (turn > 0 ? up : turn < 0 ? down : turn == 0 ? Real(1) : turn);
    length = grown < shortest ? shortest : grown > longest ? longest : grown;
    const Real way = turn < 0 ? Real(0) : g;
    x -= length * (way > 0 ? Real(1) : way < 0 ? Real(-1) : way);
    before = way;
  };
  for_each_number(x, g, false, formula, before, lengths);
}

}  // namespace xgrad::optim
