// RMSprop: an optimizer that divides each gradient by its running root mean square.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct RmspropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< decay of the averages, in [0, 1)
  double eps = 1e-8;
  double weight_decay = 0;  ///< lambda in the formula
  double momentum = 0;      ///< mu in the formula
  bool centered = false;    ///< divide by the standard deviation of g, not by the root of its mean square
  bool maximize = false;    ///< maximize the loss: use -g in place of g
};

/// RMSprop (Hinton 2012, lecture 6e), in the form of PyTorch. With gradient g:
///
///     g <- g + lambda x
///     v <- alpha v + (1 - alpha) g^2
///     a <- alpha a + (1 - alpha) g                      (centered; a is 0 otherwise)
///     b <- mu b + g / (sqrt(v - a^2) + eps)
///     x <- x - lr b
///
/// If rounding makes v - a^2 negative, it counts as 0; in PyTorch the result is NaN.
/// A gradient that is not finite, or whose square overflows, is treated as in Adam.
class RMSprop : public OptimizerOf<RMSprop, RmspropOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "rmsprop";
  static NamedOptions named_options(const Options& options) {
    return {{"alpha", options.alpha, NamedOption::below_one},
            {"eps", options.eps, NamedOption::not_negative},
            {"weight_decay", options.weight_decay, NamedOption::not_negative},
            {"momentum", options.momentum, NamedOption::not_negative},
            {"centered", double(options.centered)},
            {"maximize", double(options.maximize)}};
  }
  static Moments moments(const Options& options) {
    Moments moments{{"square_avg", false}};
    if (options.centered) moments.push_back({"grad_avg"});
    if (options.momentum > 0) moments.push_back({"momentum_buffer"});
    return moments;
  }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

}  // namespace xgrad::optim
