// Rprop: steps of their own length for each number, which only the sign of the gradient changes.
#pragma once

#include <array>

#include "optimizer.h"

namespace xgrad::optim {

struct RpropOptions {
  double lr = 1e-2;                            ///< the length of the first step
  std::array<double, 2> etas{0.5, 1.2};        ///< factors of a length where the sign changed, and where it stayed
  std::array<double, 2> step_sizes{1e-6, 50};  ///< the shortest and the longest step
  bool maximize = false;                       ///< step up the gradient: -g takes the place of g
};

/// Riedmiller and Braun 1993, for gradients of all the data. In each step with gradient g, and h the one before:
///
///     s <- min(max(s eta, shortest), longest), eta = etas[1] where g h > 0, etas[0] where g h < 0, else 1
///     g <- 0 where g h < 0
///     x <- x - s sign g
///
/// Gradients that are not finite count as with Adam. s begins as lr; later changes of the rate change nothing, as in
/// PyTorch.
class Rprop : public OptimizerOf<Rprop, RpropOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "rprop";
  static Settings settings(const Options& options);
  static Moments moments(const Options& options);
  static void advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr);
};

}  // namespace xgrad::optim
