// One pass over a parameter for each step.
#include "adam.h"

#include <cmath>

#include "../core/parallel.h"
#include "kernels/update.h"
#include "options.h"

namespace xgrad::optim {
namespace {

// 1 - beta^t, accurate for every t.
double bias_correction(double beta, std::int64_t t) { return -std::expm1(static_cast<double>(t) * std::log(beta)); }

template <class Options>
void check(const char* kind, const Options& options) {
  detail::below_one(kind, "betas[0]", options.betas[0]);
  detail::below_one(kind, "betas[1]", options.betas[1]);
  detail::not_negative(kind, "eps", options.eps);
  detail::not_negative(kind, "weight_decay", options.weight_decay);
}

template <class Options>
AdamNumbers coefficients(const Options& options, std::int64_t t, double lr, double shrink, double pull) {
  const auto [b1, b2] = options.betas;
  const auto real = [](double value) { return static_cast<Real>(value); };
  return {.old_m = real(b1),
          .new_m = real(1 - b1),
          .old_v = real(b2),
          .new_v = real(1 - b2),
          .rate = real(lr / bias_correction(b1, t)),
          .root = real(1 / std::sqrt(bias_correction(b2, t))),
          .eps = real(options.eps),
          .shrink = real(shrink),
          .pull = real(pull)};
}

void step_array(Array& x, const Array& g, std::vector<Array>& moments, const AdamNumbers& c) {
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = moments[0].mutable_data();
  Real* const vs = moments[1].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    adam_block(xs + begin, gs + begin, ms + begin, vs + begin, end - begin, c);
  });
}

}  // namespace

Adam::Adam(const Tensors& parameters, const Options& options) : Adam(std::vector<Group>{{parameters, options}}) {}

Adam::Adam(const std::vector<Group>& groups) : Optimizer("adam", {{"exp_avg"}, {"exp_avg_sq", false}}) {
  for (const auto& [parameters, options] : groups) {
    check("adam", options);
    options_.push_back(options);
    add_group(parameters, options.lr);
  }
}

void Adam::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  step_array(x, g, memory.moments, coefficients(options, memory.steps + 1, lr, 1, options.weight_decay));
}

AdamW::AdamW(const Tensors& parameters, const Options& options) : AdamW(std::vector<Group>{{parameters, options}}) {}

AdamW::AdamW(const std::vector<Group>& groups) : Optimizer("adamw", {{"exp_avg"}, {"exp_avg_sq", false}}) {
  for (const auto& [parameters, options] : groups) {
    check("adamw", options);
    options_.push_back(options);
    add_group(parameters, options.lr);
  }
}

void AdamW::update(Array& x, const Array& g, Memory& memory, int group, double lr) const {
  const Options& options = options_[static_cast<std::size_t>(group)];
  step_array(x, g, memory.moments, coefficients(options, memory.steps + 1, lr, 1 - lr * options.weight_decay, 0));
}

}  // namespace xgrad::optim
