// One pass over a parameter for each step.
#include "adam.h"

#include <cmath>

#include "../../core/runtime/parallel.h"
#include "../options.h"
#include "kernels/update.h"

namespace xgrad::optim {
namespace {

template <class Options>
AdamNumbers coefficients(const Options& options, std::int64_t t, double lr, double shrink, double pull) {
  const auto [b1, b2] = options.betas;
  const auto real = [](double value) { return static_cast<Real>(value); };
  return {.old_m = real(b1),
          .new_m = real(1 - b1),
          .old_v = real(b2),
          .new_v = real(1 - b2),
          .rate = real(lr / detail::bias_correction(b1, t)),
          .root = real(1 / std::sqrt(detail::bias_correction(b2, t))),
          .eps = real(options.eps),
          .shrink = real(shrink),
          .pull = real(pull)};
}

void step_array(Array& x, const Array& g, std::vector<Array>& moments, const AdamNumbers& c, bool maximize) {
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = moments[0].mutable_data();
  Real* const vs = moments[1].mutable_data();
  Real* const largest = moments.size() > 2 ? moments[2].mutable_data() : nullptr;
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    if (largest) {
      amsgrad_block(xs + begin, gs + begin, ms + begin, vs + begin, largest + begin, end - begin, c, maximize);
    } else if (maximize) {
      adam_up_block(xs + begin, gs + begin, ms + begin, vs + begin, end - begin, c);
    } else {
      adam_block(xs + begin, gs + begin, ms + begin, vs + begin, end - begin, c);
    }
  });
}

}  // namespace

Adam::Adam(const Tensors& parameters, const Options& options) : Adam(std::vector<Group>{{parameters, options}}) {}

Adam::Adam(const std::vector<Group>& groups) : Optimizer("adam", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::check_adam("adam", options);
    options_.push_back(options);
    Moments moments{{"exp_avg"}, {"exp_avg_sq", false}};
    if (options.amsgrad) moments.push_back({"max_exp_avg_sq", false});
    add_group(parameters, options.lr, moments, detail::adam_settings(options, {{"amsgrad", options.amsgrad}}));
  }
}

void Adam::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  step_array(x, g, memory.moments, coefficients(options, memory.steps + 1, lr, 1, options.weight_decay),
             options.maximize);
}

AdamW::AdamW(const Tensors& parameters, const Options& options) : AdamW(std::vector<Group>{{parameters, options}}) {}

AdamW::AdamW(const std::vector<Group>& groups) : Optimizer("adamw", groups) {
  for (const auto& [parameters, options] : groups) {
    detail::check_adam("adamw", options);
    options_.push_back(options);
    Moments moments{{"exp_avg"}, {"exp_avg_sq", false}};
    if (options.amsgrad) moments.push_back({"max_exp_avg_sq", false});
    add_group(parameters, options.lr, moments, detail::adam_settings(options, {{"amsgrad", options.amsgrad}}));
  }
}

void AdamW::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  step_array(x, g, memory.moments, coefficients(options, memory.steps + 1, lr, 1 - lr * options.weight_decay, 0),
             options.maximize);
}

}  // namespace xgrad::optim
