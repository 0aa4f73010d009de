// Adagrad: an optimizer that divides each gradient by the root of the sum of its earlier squares.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;                   ///< eta in the formula
  double weight_decay = 0;               ///< lambda in the formula
  double initial_accumulator_value = 0;  ///< s before the first step
  double eps = 1e-10;
  bool maximize = false;  ///< maximize the loss: use -g in place of g
};

/// Adagrad (Duchi, Hazan, Singer 2011). In step t = 1, 2, ... with gradient g:
///
///     g <- g + lambda x
///     s <- s + g^2
///     x <- x - lr / (1 + (t - 1) eta) g / (sqrt(s) + eps)
///
/// A gradient that is not finite, or whose square overflows, is treated as in Adam.
class Adagrad : public OptimizerOf<Adagrad, AdagradOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "adagrad";
  static NamedOptions named_options(const Options& options) {
    return {{"lr_decay", options.lr_decay, NamedOption::not_negative},
            {"weight_decay", options.weight_decay, NamedOption::not_negative},
            {"initial_accumulator_value", options.initial_accumulator_value, NamedOption::not_negative},
            {"eps", options.eps, NamedOption::not_negative},
            {"maximize", double(options.maximize)}};
  }
  static Moments moments(const Options& options) {
    return {{"sum", false, static_cast<Real>(options.initial_accumulator_value)}};
  }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

}  // namespace xgrad::optim
