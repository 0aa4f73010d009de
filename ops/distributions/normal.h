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
  /// Mean, standard deviation and variance: loc, scale and scale^2.
  Tensor mean() const { return loc_; }
  Tensor stddev() const { return scale_; }
  Tensor variance() const;

  /// Samples from every distribution, with the next draw of the generator and without a gradient. Their shape is
  /// sample_shape + batch_shape. Throws ValueError for a negative size.
  Tensor sample(const Shape& sample_shape = {}) const;
  /// The same samples with a gradient: loc + scale e, where e is standard normal, so gradients flow to loc and scale
  /// (the reparameterisation of Kingma, Welling: "Auto-Encoding Variational Bayes", 2013).
  Tensor rsample(const Shape& sample_shape = {}) const;

  /// ln p(value), where value and batch broadcast. Throws ShapeError if they do not, ValueError for a NaN.
  Tensor log_prob(const Tensor& value) const;
  /// The entropy -E ln p = 1/2 + ln(2 pi)/2 + ln scale.
  Tensor entropy() const;

 private:
  Tensor loc_, scale_;
};

/// KL(p | q) = (r - 1 - ln r + ((p.loc - q.loc) / q.scale)^2) / 2, r = (p.scale / q.scale)^2, for each pair of
/// distributions. Throws ShapeError if the batches do not broadcast.
Tensor kl_divergence(const Normal& p, const Normal& q);

}  // namespace xgrad::distributions
