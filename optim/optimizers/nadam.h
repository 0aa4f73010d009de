// NAdam: Adam with Nesterov's momentum.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

struct NAdamOptions {
  double lr = 2e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;              ///< lambda
  double momentum_decay = 4e-3;         ///< psi
  bool decoupled_weight_decay = false;  ///< as AdamW's
  bool maximize = false;                ///< step up the gradient: -g takes the place of g
};

/// Dozat 2016. In step t = 1, 2, ... with gradient g:
///
///     g <- g + lambda x                                  (decoupled: x <- x - lr lambda x)
///     m <- b1 m + (1 - b1) g
///     v <- b2 v + (1 - b2) g^2
///     mu_t = b1 (1 - 0.96^(t psi) / 2),  p_t = mu_1 ... mu_t
///     x <- x - lr ((1 - mu_t) / (1 - p_t) g + mu_{t+1} / (1 - p_{t+1}) m) / (sqrt(v / (1 - b2^t)) + eps)
///
/// Gradients whose squares v could not hold, and those that are not finite, count as with Adam.
class NAdam : public OptimizerOf<NAdam, NAdamOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "nadam";
  static Settings settings(const Options& options);
  static Moments moments(const Options& options);
  static void advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr);
};

}  // namespace xgrad::optim
