// ASGD: averaged stochastic gradient descent.
#pragma once

#include "optimizer.h"

namespace xgrad::optim {

struct AsgdOptions {
  double lr = 1e-2;
  double lambd = 1e-4;      ///< how fast weights decay
  double alpha = 0.75;      ///< how fast the rate falls
  double t0 = 1e6;          ///< the step from which on weights are averaged
  double weight_decay = 0;  ///< lambda
  bool maximize = false;    ///< step up the gradient: -g takes the place of g
};

/// Polyak and Juditsky 1992, as PyTorch has it. In step t = 1, 2, ... with gradient g, eta_1 = lr, mu_1 = 1:
///
///     g <- g + lambda x
///     x <- (1 - lambd eta_t) x - eta_t g
///     a <- a + mu_t (x - a)
///     eta_(t + 1) = lr / (1 + lambd lr t)^alpha,  mu_(t + 1) = 1 / max(1, t - t0)
///
/// The averages a are `ax` in the state. Gradients that are not finite count as with Adam.
class ASGD : public OptimizerOf<ASGD, AsgdOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "asgd";
  static Settings settings(const Options& options);
  static Moments moments(const Options& options);
  static void advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr);
};

}  // namespace xgrad::optim
