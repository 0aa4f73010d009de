// The categorical distribution.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad::distributions {

/// The parameters of Categorical: either probs or logits, (..., K).
struct CategoricalOptions {
  Tensor probs = {};   ///< relative probabilities, which are divided by their sum
  Tensor logits = {};  ///< logarithms of relative probabilities; -inf for an impossible category
};
/// Distributions over the categories 0 ... K - 1, one for each row of the last axis.
///
/// Thread-safe: each thread draws from its own generator (manual_seed).
class Categorical {
 public:
  using Options = CategoricalOptions;

  /// Throws ValueError unless exactly one of probs and logits is given; for a probability that is negative or not
  /// finite, or a row with the sum 0; for a logit that is NaN or inf, or a row with only -inf. Throws ShapeError if the
  /// axis of categories is missing.
  explicit Categorical(const Options& options);

  /// The probabilities p (..., K), whose sum is 1.
  Tensor probs() const;
  /// ln p (..., K). If probs were given, they are first clamped to [e, 1 - e], where e is the machine epsilon, as in
  /// PyTorch.
  Tensor logits() const;
  /// The shape of the batch of distributions, (...).
  Shape batch_shape() const { return batch_; }
  /// The number of categories, K.
  std::int64_t num_categories() const { return normalized_.dim(-1); }

  /// Samples from every distribution, with the next draw of the generator. Their shape is sample_shape + batch_shape.
  /// Throws ValueError for a negative size.
  Index sample(const Shape& sample_shape = {}) const;

  /// ln p_value; value and batch broadcast. Throws ShapeError if they do not, ValueError for a value outside [0, K).
  Tensor log_prob(const Index& value) const;
  /// The entropy -E ln p = -sum_i p_i ln p_i.
  Tensor entropy() const;

 private:
  Tensor normalized_;  // probs or logits
  Shape batch_;
  bool by_logits_;
};

/// KL(p | q) = sum_i p_i ln(p_i / q_i) for each pair of distributions; infinite where q_i = 0 and p_i > 0. Throws
/// ShapeError if the batches do not broadcast or the numbers of categories differ.
Tensor kl_divergence(const Categorical& p, const Categorical& q);

}  // namespace xgrad::distributions
