// The normal distribution.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad::distributions {

/// Normal distributions, one for each element of loc and scale, which broadcast:
///
///     p(x) = e^(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi))
///
/// Thread-safe: each thread draws from its own generator (manual_seed).
class Normal {
 public:
  /// Throws ShapeError unless the shapes broadcast, ValueError for a loc that is NaN or a scale that is not positive.
  Normal(const Tensor& loc, const Tensor& scale);

  Tensor loc() const { return loc_; }
  Tensor scale() const { return scale_; }
  /// The shape that loc and scale broadcast to.
  Shape batch_shape() const { return loc_.shape(); }
  /// loc, scale and scale^2.
  Tensor mean() const { return loc_; }
  Tensor stddev() const { return scale_; }
  Tensor variance() const;

  /// Draws of every distribution, sample_shape + batch_shape, without a gradient: the next draw of the generator.
  /// Throws ValueError for a negative size.
  Tensor sample(const Shape& sample_shape = {}) const;
  /// The same numbers as loc + scale e, e standard normal: the gradient flows to loc and scale (the reparameterisation
  /// of Kingma, Welling: "Auto-Encoding Variational Bayes", 2013).
  Tensor rsample(const Shape& sample_shape = {}) const;

  /// ln p(value), value broadcast with the batch. Throws ShapeError, ValueError for a value that is NaN.
  Tensor log_prob(const Tensor& value) const;
  /// -E ln p = 1/2 + ln(2 pi)/2 + ln scale.
  Tensor entropy() const;

 private:
  Tensor loc_, scale_;
};

/// KL(p | q) = (r - 1 - ln r + ((p.loc - q.loc) / q.scale)^2) / 2, r = (p.scale / q.scale)^2, for each pair of the two
/// batches, which broadcast. Throws ShapeError.
Tensor kl_divergence(const Normal& p, const Normal& q);

}  // namespace xgrad::distributions
