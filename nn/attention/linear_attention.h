// LinearAttention: multi-head attention whose time is linear in the number of positions.
#pragma once

#include <string>

#include "../../ops/network/linear_attention.h"
#include "../layers/linear.h"
#include "masks.h"

namespace xgrad::nn {

struct LinearAttentionOptions {
  std::int64_t query = 0;  ///< widths of the inputs for queries, keys and values; 0 means `dim`
  std::int64_t key = 0;
  std::int64_t value = 0;
  bool bias = false;
};
/// Multi-head attention in which phi(q) phi(k)', phi = elu + 1, replaces the softmax (Katharopoulos et al. 2020). It
/// has the same parameters as MultiHeadAttention:
///
///     head_h = phi(q_h) (sum phi(k_h)' v_h) / phi(q_h) sum phi(k_h)',      q = W_q query, k = W_k key, v = W_v value
///     y = W_o (head_1, ..., head_H)
struct LinearAttention : Layer<LinearAttention> {
  using Options = LinearAttentionOptions;

  /// Throws ValueError for sizes below 1 or a `dim` that is not a multiple of `heads`.
  LinearAttention(At here, std::int64_t dim, std::int64_t heads, const Options& options = {});
  explicit LinearAttention(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Self-attention: x (B, T, C) -> (B, T, C). The mask may be causal and may have lengths (B); other masks need
  /// attention weights, which are not computed here. Throws ShapeError, and ValueError for any other mask.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  /// Attention of queries to other inputs: query (B, T, .), key (B, S, .), value (B, S, .) -> (B, T, C).
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;
  /// Causal self-attention, step by step: x (B, T, C) are the next positions of a sequence. They are added to the state
  /// `past`, whose size does not grow. Throws ShapeError if x and the past differ in batch size.
  Tensor forward(const Tensor& x, LinearAttentionState& past) const;

  const std::int64_t dim;
  const std::int64_t heads;
  Linear q, k, v, o;

 protected:
  std::string extra_repr() const override { return str(dim, ", ", heads, " heads"); }
};

}  // namespace xgrad::nn
