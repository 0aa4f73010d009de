// Lion: an optimizer whose steps are signs of averaged gradients.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

struct LionOptions {
  double lr = 1e-4;
  std::array<double, 2> betas{0.9, 0.99};
  double weight_decay = 0;  ///< lambda in the formula
  bool maximize = false;    ///< maximize the loss: use -g in place of g
};

/// Lion (Chen et al. 2023, algorithm 2). Without weight decay every element moves by lr, whatever the size of its
/// gradient. So lr should be 3 to 10 times smaller than for AdamW, and lambda larger by the same factor. With gradient
/// g:
///
///     x <- x - lr (sign(b1 m + (1 - b1) g) + lambda x)
///     m <- b2 m + (1 - b2) g
///
/// A g that is not finite makes x NaN.
class Lion : public OptimizerOf<Lion, LionOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "lion";
  static NamedOptions named_options(const Options& options) {
    return {{"betas[0]", options.betas[0], NamedOption::below_one},
            {"betas[1]", options.betas[1], NamedOption::below_one},
            {"weight_decay", options.weight_decay, NamedOption::not_negative},
            {"maximize", double(options.maximize)}};
  }
  static Moments moments(const Options&) { return {{"exp_avg"}}; }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

}  // namespace xgrad::optim
