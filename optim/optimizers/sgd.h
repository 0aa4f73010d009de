// SGD: stochastic gradient descent, optionally with momentum.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;      ///< mu in the formula
  double dampening = 0;     ///< tau in the formula
  double weight_decay = 0;  ///< lambda in the formula
  bool nesterov = false;
  bool maximize = false;  ///< maximize the loss: use -g in place of g
};

/// Stochastic gradient descent with PyTorch's form of momentum. With gradient g:
///
///     g <- g + lambda x
///     b <- mu b + (1 - tau) g        (b = g in the first step)
///     x <- x - lr b                  (nesterov: x - lr (g + mu b); without momentum: x - lr g)
class SGD : public OptimizerOf<SGD, SgdOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "sgd";
  static NamedOptions named_options(const Options& options) {
    if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
      fail<ValueError>(kind, "nesterov needs momentum and no dampening, got momentum ", options.momentum,
                       " and dampening ", options.dampening);
    }
    return {{"momentum", options.momentum, NamedOption::not_negative},
            {"dampening", options.dampening, NamedOption::not_negative},
            {"weight_decay", options.weight_decay, NamedOption::not_negative},
            {"nesterov", double(options.nesterov)},
            {"maximize", double(options.maximize)}};
  }
  static Moments moments(const Options& options) {
    return options.momentum != 0 ? Moments{{"momentum_buffer"}} : Moments{};
  }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

}  // namespace xgrad::optim
