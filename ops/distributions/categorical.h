// The categorical distribution.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad::distributions {

/// Either probs or logits, (..., K).
struct CategoricalOptions {
  Tensor probs = {};   ///< relative probabilities; divided by their sum
  Tensor logits = {};  ///< their logarithms; -inf for an impossible category
};
/// Distributions over the categories 0 ... K - 1, one for each row of the last axis.
///
/// Thread-safe: each thread draws from its own generator (manual_seed).
class Categorical {
 public:
  using Options = CategoricalOptions;

  /// Throws ValueError unless there are either probs or logits, for a probability that is negative or not finite, a row
  /// of them whose sum is 0, a logit that is NaN or inf, and a row that has only -inf; ShapeError without an axis of
  /// categories.
  explicit Categorical(const Options& options);

  /// p (..., K), of sum 1.
  Tensor probs() const;
  /// ln p (..., K), probs first clamped to [e, 1 - e], e the distance from 1 to the next number, as in PyTorch.
  Tensor logits() const;
  /// (...)
  Shape batch_shape() const { return batch_; }
  /// K
  std::int64_t num_categories() const { return normalized_.dim(-1); }

  /// Draws of every distribution, sample_shape + batch_shape: the next draw of the generator. Throws ValueError
  /// for a negative size.
  Index sample(const Shape& sample_shape = {}) const;

  /// ln p_value, value broadcast with the batch. Throws ShapeError, ValueError for a value outside [0, K).
  Tensor log_prob(const Index& value) const;
  /// -E ln p = -sum_i p_i ln p_i.
  Tensor entropy() const;

 private:
  Tensor normalized_;  // probs or logits
  Shape batch_;
  bool by_logits_;
};

/// KL(p | q) = sum_i p_i ln(p_i / q_i), infinite where q_i = 0 and p_i > 0; for each pair of the two batches,
/// which broadcast. Throws ShapeError, also for different numbers of categories.
Tensor kl_divergence(const Categorical& p, const Categorical& q);

}  // namespace xgrad::distributions
