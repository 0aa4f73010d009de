// The Bernoulli distribution.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad::distributions {

/// Either probs or logits.
struct BernoulliOptions {
  Tensor probs = {};   ///< the probability of 1
  Tensor logits = {};  ///< ln(probs / (1 - probs))
};
/// Bernoulli distributions, one for each element: 1 with probability p, else 0.
///
/// Thread-safe: each thread draws from its own generator (manual_seed).
class Bernoulli {
 public:
  using Options = BernoulliOptions;

  /// Throws ValueError unless there are either probs in [0, 1] or logits that are not NaN.
  explicit Bernoulli(const Options& options);

  /// p, the sigmoid of the logits.
  Tensor probs() const;
  /// ln(p / (1 - p)), probs first clamped to [e, 1 - e], e the distance from 1 to the next number, as in PyTorch.
  Tensor logits() const;
  Shape batch_shape() const { return given_.shape(); }
  /// p and p (1 - p).
  Tensor mean() const { return probs(); }
  Tensor variance() const;

  /// Draws of every distribution, sample_shape + batch_shape: the next draw of the generator. No gradient.
  /// Throws ValueError for a negative size.
  Tensor sample(const Shape& sample_shape = {}) const;

  /// ln p where the value is 1, ln(1 - p) where it is 0; value broadcast with the batch. Throws ShapeError, ValueError
  /// for another value.
  Tensor log_prob(const Tensor& value) const;
  /// -E ln p(x) = -p ln p - (1 - p) ln(1 - p).
  Tensor entropy() const;

 private:
  Tensor given_;  // probs or logits
  bool by_logits_;
};

/// KL(p | q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)), infinite where q is 0 or 1 and p differs; for each pair
/// of the two batches, which broadcast. Throws ShapeError.
Tensor kl_divergence(const Bernoulli& p, const Bernoulli& q);

}  // namespace xgrad::distributions
