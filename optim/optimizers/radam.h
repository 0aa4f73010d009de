// RAdam: rectified Adam, which divides only when enough squares have been seen.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

struct RAdamOptions {
  double lr = 1e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;              ///< lambda
  bool decoupled_weight_decay = false;  ///< as AdamW's
  bool maximize = false;                ///< step up the gradient: -g takes the place of g
};

/// Liu et al. 2020. In step t = 1, 2, ... with gradient g:
///
///     g <- g + lambda x                                  (decoupled: x <- x - lr lambda x)
///     m <- b1 m + (1 - b1) g
///     v <- b2 v + (1 - b2) g^2
///     r_inf = 2 / (1 - b2) - 1,  r = r_inf - 2 t b2^t / (1 - b2^t)
///     x <- x - lr m / (1 - b1^t) sqrt(1 - b2^t) / (sqrt(v) + eps)
///              sqrt((r - 4) (r - 2) r_inf / ((r_inf - 4) (r_inf - 2) r))      if r > 5
///     x <- x - lr m / (1 - b1^t)                                              otherwise
///
/// Gradients whose squares v could not hold, and those that are not finite, count as with Adam.
class RAdam : public OptimizerOf<RAdam, RAdamOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "radam";
  static Settings settings(const Options& options);
  static Moments moments(const Options& options);
  static void advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr);
};

}  // namespace xgrad::optim
