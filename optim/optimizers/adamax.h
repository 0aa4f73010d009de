// Adamax: Adam with the largest gradient in place of the mean square.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

struct AdamaxOptions {
  double lr = 2e-3;
  std::array<double, 2> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;  ///< lambda
  bool maximize = false;    ///< step up the gradient: -g takes the place of g
};

/// Kingma and Ba 2015, section 7.1. In step t = 1, 2, ... with gradient g:
///
///     g <- g + lambda x
///     m <- b1 m + (1 - b1) g
///     u <- max(b2 u, |g| + eps)
///     x <- x - lr / (1 - b1^t) m / u
///
/// Gradients that are not finite count as with Adam.
class Adamax : public OptimizerOf<Adamax, AdamaxOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "adamax";
  static Settings settings(const Options& options);
  static Moments moments(const Options& options);
  static void advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr);
};

}  // namespace xgrad::optim
