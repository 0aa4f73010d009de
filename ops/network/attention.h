// Attention: score, softmax, weighted sum, in one operation (Vaswani et al., "Attention Is All You Need", 2017).
#pragma once

#include <optional>

#include "../../core/array/random.h"
#include "../../core/graph/tensor.h"
#include "attention_mask.h"

namespace xgrad {

struct AttentionOptions {
  AttentionMask mask{};
  double dropout = 0;              ///< the probability that a weight is dropped
  std::optional<RandomKey> key{};  ///< the key of the dropout; by default the next draw of the generator
  std::optional<double> scale{};   ///< the scale of the scores; by default 1/sqrt(d)
  /// For multi_head_attention: the number of heads of keys and values, by default H. Each serves H / kv_heads
  /// consecutive heads of queries, which read it in place (Ainslie et al., "GQA", 2023).
  std::optional<std::int64_t> kv_heads{};
};

/// y = dropout(softmax(scale q k^T + bias)) v       q (..., T, d), k (..., S, d), v (..., S, e) -> (..., T, e)
///
/// Memory grows with T + S, not with T S: for long sequences the backward pass computes the weights again, from two
/// numbers for each query (Dao et al., "FlashAttention", 2022). A causal or band mask saves the work for the keys that
/// it excludes.
///
/// A key with a score of -inf has weight 0; a score of +inf makes the result of its query NaN, as in softmax.
///
/// q, k and v have two to four axes, with equal leading axes (B) or (B, H). Throws ShapeError when shapes do not fit.
/// Throws ValueError for lengths outside [0, S], a negative side of a band, a dropout outside [0, 1] or a scale that is
/// not finite, and if kv_heads is given. Throws LimitError for a mask by position over more keys than Real can count
/// (2^24 in float).
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});

/// Attention of H heads, which are concatenated in the last axis and read in place: head h has columns h d ... (h + 1)
/// d - 1. q (B, T, H d), k (B, S, H d), v (B, S, H e) -> (B, T, H e). With kv_heads, k and v have that number of heads
/// instead of H. Also throws ValueError unless each width is a multiple of its heads, and H a multiple of kv_heads.
Tensor multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                            const AttentionOptions& options = {});

/// Self-attention of H heads. qkv is one projection, which concatenates queries, keys and values along the last axis.
/// They are read in place, and their gradient is one array.      qkv (B, T, (H + 2 kv_heads) d) -> (B, T, H d)
/// Throws ShapeError unless qkv has three axes, ValueError when its width is not a multiple of H + 2 kv_heads.
Tensor multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});

/// Unfused attention, with the weights as a tensor. It runs under Plain.
namespace plain {
/// softmax(q k^T / sqrt(d)) v, the formula of the paper. A key has weight 0 where `masked` (broadcast to the scores) is
/// true. q (..., T, d), k (..., S, d), v (..., S, e) -> (..., T, e)
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Mask>& masked = {});
/// dropout(softmax(q k^T scale + bias)) v, where masked keys have the score -inf
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options = {});
Tensor multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                            const AttentionOptions& options = {});
Tensor multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options = {});
}  // namespace plain

/// The weights that multi_head_attention gives to the keys, before dropout: (B, H, T, S). Differentiable.
Tensor attention_weights(const Tensor& q, const Tensor& k, std::int64_t heads, const AttentionOptions& options = {});

/// y = weights x. Terms of weight 0 are skipped, even if x is NaN or infinite there; all gradients skip them, too.
/// weights (..., T, S), x (..., S, e), with the same leading axes -> (..., T, e). Throws ShapeError for other shapes.
Tensor weighted_sum(const Tensor& weights, const Tensor& x);

}  // namespace xgrad
