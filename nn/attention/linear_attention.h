// Multi-head attention at linear cost.
#pragma once

#include <string>

#include "../../ops/network/linear_attention.h"
#include "../layers/linear.h"
#include "masks.h"

namespace xgrad::nn {

struct LinearAttentionOptions {
  std::int64_t query = 0;  ///< widths of the inputs of queries, keys and values; `dim` if 0
  std::int64_t key = 0;
  std::int64_t value = 0;
  bool bias = false;
};
/// Multi-head attention with phi(q) phi(k)', phi = elu + 1, in the place of the softmax (Katharopoulos et al. 2020);
/// parameters as those of MultiHeadAttention:
///
///     head_h = phi(q_h) (sum phi(k_h)' v_h) / phi(q_h) sum phi(k_h)',      q = W_q query, k = W_k key, v = W_v value
///     y = W_o (head_1, ..., head_H)
struct LinearAttention : Layer<LinearAttention> {
  using Options = LinearAttentionOptions;

  /// Throws ValueError for sizes below 1 or a `dim` that does not divide by `heads`.
  LinearAttention(At here, std::int64_t dim, std::int64_t heads, const Options& options = {});
  explicit LinearAttention(Placeless, ...);  ///< does not compile: no place

  /// Self-attention: x (B, T, C) -> (B, T, C). The mask may be causal and have lengths (B), no more, because no
  /// attention weights are computed. Throws ShapeError, ValueError for any other mask.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  /// query (B, T, .), key (B, S, .), value (B, S, .) -> (B, T, C).
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;
  /// Causal self-attention of the next positions of a sequence, x (B, T, C), which are added to the past; its size
  /// stays the same. Throws ShapeError if x is of another batch size than the past.
  Tensor forward(const Tensor& x, LinearAttentionState& past) const;

  const std::int64_t dim;
  const std::int64_t heads;
  Linear q, k, v, o;

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
