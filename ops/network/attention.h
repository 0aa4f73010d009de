// Attention: score, softmax, weighted sum, in one operation (Vaswani et al., "Attention Is All You Need", 2017).
#pragma once

#include <optional>

#include "../../core/array/random.h"
#include "../../core/graph/tensor.h"
#include "attention_mask.h"

namespace xgrad {

struct AttentionOptions {
  AttentionMask mask{};
  double dropout = 0;              ///< probability with which a weight is dropped
  std::optional<RandomKey> key{};  ///< of the dropout; by default the next draw of the generator
  std::optional<double> scale{};   ///< of the scores; by default 1/sqrt(d)
  /// Of multi_head_attention: the number of heads of keys and values, each for H / kv_heads consecutive heads of
  /// queries (Ainslie et al., "GQA", 2023), which read them in place; H if not given.
  std::optional<std::int64_t> kv_heads{};
};

/// y = dropout(softmax(scale q k^T + bias)) v       q (..., T, d), k (..., S, d), v (..., S, e) -> (..., T, e)
///
/// Memory grows with T + S, not with T S: for long sequences the weights are computed again in the backward pass, from
/// two numbers for each query (Dao et al., "FlashAttention", 2022). A causal or band mask saves the work of the keys
/// that it excludes.
///
/// A key with a score of -inf has no weight; a score of +inf makes the result of its query NaN, as in softmax.
///
/// Two to four axes; leading axes (B) or (B, H) are equal in all three. Throws ShapeError when shapes do not fit,
/// ValueError for lengths outside [0, S], a negative side of a band, a dropout outside [0, 1], a scale that is not
/// finite, or kv_heads, and LimitError for a mask by position over more keys than Real can count (2^24 in float).
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// Attention of H heads, which are neighbours in the last axis: head h has columns h d ... (h + 1) d - 1, read in
/// place. q (B, T, H d), k (B, S, H d), v (B, S, H e) -> (B, T, H e); with kv_heads k and v have that many heads
/// instead of H. Throws also ValueError when widths do not divide by their heads, or H by kv_heads.
Tensor multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                            const AttentionOptions& options = {});

/// Self-attention of H heads from one projection, the concatenation of queries, keys and values along the last axis,
/// which are read in place; their gradient is one array.      qkv (B, T, (H + 2 kv_heads) d) -> (B, T, H d)
/// Throws ShapeError unless qkv has three axes, ValueError when its width does not divide by these heads.
Tensor multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});

/// The formulas in single operations, the weights as a tensor, as run under Plain.
namespace plain {
/// softmax(q k^T / sqrt(d)) v, the formula of the paper. Where `masked` (broadcast to the scores) is true, a key has no
/// weight. q (..., T, d), k (..., S, d), v (..., S, e) -> (..., T, e)
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Mask>& masked = {});
/// dropout(softmax(q k^T scale + bias)) v, -inf in place of the scores of masked keys
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});
Tensor multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                            const AttentionOptions& options = {});
Tensor multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});
}  // namespace plain

/// The weights that multi_head_attention gives to the keys, before dropout: (B, H, T, S). Differentiable.
Tensor attention_weights(const Tensor& q, const Tensor& k, std::int64_t heads, const AttentionOptions& options = {});

/// y = weights x, where terms of weight 0 are skipped, even NaN and infinities, here and in all gradients.
/// weights (..., T, S), x (..., S, e), with the same leading axes -> (..., T, e). Throws ShapeError.
Tensor weighted_sum(const Tensor& weights, const Tensor& x);

}  // namespace xgrad
