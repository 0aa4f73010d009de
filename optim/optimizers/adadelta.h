// Adadelta: an optimizer that scales gradients by running averages of earlier steps and gradients.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;  ///< decay of the averages, in [0, 1)
  double eps = 1e-6;
  double weight_decay = 0;  ///< lambda in the formula
  bool maximize = false;    ///< maximize the loss: use -g in place of g
};

/// Adadelta (Zeiler 2012). With gradient g:
///
///     g <- g + lambda x
///     v <- rho v + (1 - rho) g^2
///     s  = sqrt(d + eps) / sqrt(v + eps) g
///     d <- rho d + (1 - rho) s^2
///     x <- x - lr s
///
/// A gradient that is not finite, or whose square overflows, is treated as in Adam.
class Adadelta : public OptimizerOf<Adadelta, AdadeltaOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "adadelta";
  static NamedOptions named_options(const Options& options) {
    return {{"rho", options.rho, NamedOption::below_one},
            {"eps", options.eps, NamedOption::not_negative},
            {"weight_decay", options.weight_decay, NamedOption::not_negative},
            {"maximize", double(options.maximize)}};
  }
  static Moments moments(const Options&) { return {{"square_avg", false}, {"acc_delta", false}}; }
  static void advance(Array& x, const Array& g, State& state, const Options& options, double lr);
};

}  // namespace xgrad::optim
