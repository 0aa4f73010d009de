// The uniform distribution.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad::distributions {

/// Uniform distributions, one for each element of low and high, which broadcast: p(x) = 1 / (high - low) in
/// [low, high), else 0.
///
/// Thread-safe: each thread draws from its own generator (manual_seed).
class Uniform {
 public:
  /// Throws ShapeError unless the shapes broadcast, ValueError unless low < high, both finite, everywhere.
  Uniform(const Tensor& low, const Tensor& high);

  Tensor low() const { return low_; }
  Tensor high() const { return high_; }
  /// The shape that low and high broadcast to.
  Shape batch_shape() const { return low_.shape(); }
  /// (low + high) / 2, the root of the variance, and (high - low)^2 / 12.
  Tensor mean() const;
  Tensor stddev() const;
  Tensor variance() const;

  /// Draws of every distribution, sample_shape + batch_shape, without a gradient: the next draw of the generator.
  /// Throws ValueError for a negative size.
  Tensor sample(const Shape& sample_shape = {}) const;
  /// The same numbers as low + (high - low) u, u in [0, 1), or low where that is rounded up to high: the gradient flows
  /// to low and high.
  Tensor rsample(const Shape& sample_shape = {}) const;

  /// ln p(value), value broadcast with the batch: -ln(high - low), -inf at high. No gradient flows to the value. Throws
  /// ShapeError, ValueError for a value outside [low, high].
  Tensor log_prob(const Tensor& value) const;
  /// -E ln p = ln(high - low).
  Tensor entropy() const;

 private:
  Tensor low_, high_;
};

/// KL(p | q) = ln((q.high - q.low) / (p.high - p.low)) where p lies within q, else infinite; for each pair of the two
/// batches, which broadcast. Throws ShapeError.
Tensor kl_divergence(const Uniform& p, const Uniform& q);

}  // namespace xgrad::distributions
