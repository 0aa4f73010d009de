// Settings and averages of Adam and its variants.
#pragma once

#include <vector>

#include "../optimizer.h"
#include "loops.h"

namespace xgrad::optim {

/// The settings that all have, and `more`.
template <class Options>
std::vector<Setting> adam_settings(const Options& options, const std::vector<Setting>& more = {}) {
  std::vector<Setting> all{{"betas[0]", options.betas[0], Setting::below_one},
                           {"betas[1]", options.betas[1], Setting::below_one},
                           {"eps", options.eps, Setting::not_negative},
                           {"weight_decay", options.weight_decay, Setting::not_negative},
                           {"maximize", double(options.maximize)}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The numbers of a step of NAdam and RAdam that follow from the options alone, and the averages that both keep.
struct AdamNumbers {
  Real new_m, old_v, new_v, eps, shrink, pull, sign;

  template <class Of>
  AdamNumbers(const Of& options, double lr)
      : new_m(static_cast<Real>(1 - options.betas[0])),
        old_v(static_cast<Real>(options.betas[1])),
        new_v(static_cast<Real>(1 - options.betas[1])),
        eps(static_cast<Real>(options.eps)),
        shrink(static_cast<Real>(options.decoupled_weight_decay ? 1 - lr * options.weight_decay : 1)),
        pull(static_cast<Real>(options.decoupled_weight_decay ? 0 : options.weight_decay)),
        sign(options.maximize ? -1 : 1) {}

  /// The gradient with its weight decay.
  Real gradient(Real g, Real x) const { return squarable(sign * g + pull * x); }
  /// m moves towards g, v towards its square.
  void average(Real g, Real& m, Real& v) const {
    m += new_m * (g - m);
    v = old_v * v + new_v * g * g;
  }
};

}  // namespace xgrad::optim
