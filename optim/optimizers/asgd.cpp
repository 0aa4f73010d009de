// ASGD: one pass over a parameter for each step.
#include "asgd.h"

#include <algorithm>
#include <cmath>

#include "../options.h"
#include "kernels/loops.h"

namespace xgrad::optim {

ASGD::Settings ASGD::settings(const Options& options) {
  return {{"lambd", options.lambd, Setting::not_negative},
          {"alpha", options.alpha, Setting::not_negative},
          {"t0", options.t0, Setting::not_negative},
          {"weight_decay", options.weight_decay, Setting::not_negative},
          {"maximize", double(options.maximize)}};
}

ASGD::Moments ASGD::moments(const Options&) { return {{"ax"}, {"eta", false, 0, one_number}}; }

void ASGD::advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr) {
  const double t = static_cast<double>(memory.steps + 1);
  Real& next_eta = *memory.moments[1].mutable_data();
  const double eta = memory.steps == 0 ? lr : static_cast<double>(next_eta);
  const Real rate = static_cast<Real>(eta), shrink = static_cast<Real>(1 - options.lambd * eta),
             to_average = static_cast<Real>(1 / std::max(1.0, t - 1 - options.t0)),
             pull = static_cast<Real>(options.weight_decay), sign = options.maximize ? -1 : 1;
  const auto formula = [=](Real& x, Real g, Real& average) {
    g = sign * g + pull * x + 0 * g;  // NaN for infinity
    x = shrink * x - rate * g;
    average = to_average == 1 ? x : average + to_average * (x - average);
  };
  for_each_number(x, g, false, formula, memory.moments[0]);
  next_eta = static_cast<Real>(lr / std::pow(1 + options.lambd * lr * t, options.alpha));
}

}  // namespace xgrad::optim
