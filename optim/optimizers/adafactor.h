// Adafactor: Adam with the memory of a row and a column.
#pragma once

#include <array>
#include <limits>

#include "optimizer.h"

namespace xgrad::optim {

struct AdafactorOptions {
  double lr = 1e-2;           ///< the largest relative step
  double beta2_decay = -0.8;  ///< c
  std::array<double, 2> eps{std::numeric_limits<Real>::epsilon(), 1e-3};
  double d = 1;             ///< the root mean square of a step is d at most, before it is scaled
  double weight_decay = 0;  ///< lambda
  bool maximize = false;    ///< step up the gradient: -g takes the place of g
};

/// Shazeer and Stern 2018, in PyTorch's form. Of a matrix x it remembers the means of g^2 along each row, r, and along
/// each column, c, whose product over the mean of r stands for Adam's v; of a vector v itself. In step t = 1, 2, ...
///
///     w = t^c,  a = max(eps[1], rms(x)) min(lr, 1 / sqrt(t))
///     x <- x - lr lambda x
///     r <- r + w (mean over columns of g^2 - r),  c <- c + w (mean over rows of g^2 - c)
///     u = g / max(sqrt(r c / max(mean(r), eps[0])), eps[0])
///     x <- x - a u / max(1, rms(u) / d)
///
/// with rms the root of the mean square. An x of more axes is as many matrices as its first axes say; rms is over all.
/// Gradients whose squares the means could not hold, and those that are not finite, count as with Adam.
class Adafactor : public OptimizerOf<Adafactor, AdafactorOptions> {
 public:
  using OptimizerOf::OptimizerOf;

 private:
  friend OptimizerOf;
  static constexpr const char* kind = "adafactor";
  static Settings settings(const Options& options);
  static Moments moments(const Options& options);
  static void advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr);
};

}  // namespace xgrad::optim
