// Multi-head attention as in transformers, for whole sequences and for decoding step by step.
//
// Other headers: attention_scores.h (one head with another score), linear_attention.h (linear cost),
// pytorch/multihead_attention.h (the parameters of PyTorch).
#pragma once

#include <optional>
#include <string>

#include "../../ops/network/rotary.h"
#include "../containers/maybe.h"
#include "../layers/linear.h"
#include "key_value_cache.h"
#include "masks.h"

namespace xgrad::nn {

/// The projected keys and values of a memory, to which the queries of every step attend.
struct KeyValue {
  Tensor k;  ///< (B, S, C), and the same for v
  Tensor v;

  std::int64_t length() const { return k.dim(1); }
  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

struct MultiHeadAttentionOptions {
  std::int64_t query = 0;  ///< widths of the inputs for queries, keys and values; 0 means `dim`
  std::int64_t key = 0;
  std::int64_t value = 0;
  double dropout = 0;  ///< dropout probability of the attention weights
  bool bias = false;
  std::optional<bool> o_bias = {};            ///< whether the output map W_o has a bias; `bias` if not given
  std::optional<std::int64_t> kv_heads = {};  ///< number of heads of keys and values; H if not given
  bool packed = false;                        ///< for self-attention: one product computes queries, keys and values
  std::optional<double> rotary_theta = {};    ///< base of the rotary positions, see rotary(); none if not given
  RotaryLayout rotary_layout = RotaryLayout::halves;
  std::optional<RotaryScaling> rotary_scaling = {};
};
/// Multi-head attention (Vaswani et al. 2017), by default without biases:
///
///     head_h = softmax(q_h k_g' / sqrt(d)) v_g,      d = C / H,      g = h kv_heads / H
///     y = W_o (head_1, ..., head_H)
///
/// Queries, keys and values have separate maps: q = W_q query, k = W_k key, v = W_v value. Packed, they have one map:
/// (q, k, v) = W_qkv x. With fewer kv_heads than heads, several heads of queries share one head of keys and values
/// (Ainslie et al. 2023). A KeyValueCache is then smaller by the same factor.
struct MultiHeadAttention : Layer<MultiHeadAttention, MultiHeadAttentionOptions> {
  /// Throws ValueError for sizes below 1, a dropout outside [0, 1], or an odd d with rotary_theta. Also throws it if
  /// `dim` is not a multiple of `heads` or `heads` not of kv_heads, and if packed maps have different input widths.
  MultiHeadAttention(At here, std::int64_t dim, std::int64_t heads, const Options& options = {});
  explicit MultiHeadAttention(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Self-attention: x (B, T, C) -> (B, T, C). Throws ShapeError.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  /// Attention of queries to other inputs: query (B, T, .), key (B, S, .), value (B, S, .) -> (B, T, C). Throws
  /// ShapeError, and ValueError if packed.
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;

  /// The same in two parts, for decoding: remember() projects keys and values once, and forward() uses them at every
  /// step. Both throw the same errors, and ValueError with rotary_theta, because the positions of the queries are not
  /// known here.
  KeyValue remember(const Tensor& key, const Tensor& value) const;
  Tensor forward(const Tensor& query, const KeyValue& memory, const AttentionMask& mask = {}) const;
  /// Causal self-attention, step by step: x (B, T, C) are the next positions of a sequence. Their keys and values are
  /// appended to `past`; each position attends to itself and all earlier ones, or with a window to itself and the
  /// window - 1 positions before. Throws ShapeError if x and the past differ in batch size, and ValueError for a window
  /// below 1. If anything throws, also a hook, the past is unchanged.
  Tensor forward(const Tensor& x, KeyValueCache& past, std::optional<std::int64_t> window = {}) const;

  /// The call also takes a mask in braces: attn(x, {.causal = true}).
  using Layer::operator();
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const { return Layer::operator()(x, mask); }
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask) const {
    return Layer::operator()(query, key, value, mask);
  }

  const std::int64_t dim;
  const std::int64_t heads;
  const std::int64_t kv_heads;
  Maybe<Linear> qkv;      ///< one map for all, if packed: C -> (H + 2 kv_heads) d
  Maybe<Linear> q, k, v;  ///< separate maps, if not packed
  Linear o;

 protected:
  std::string extra_repr() const override;

 private:
  struct Heads {
    Tensor q, k, v;  // (B, T, H d), (B, S, kv_heads d)
  };
  Heads project(const Tensor& query, const Tensor& key, const Tensor& value, std::int64_t first) const;
  Tensor answer(const Heads& all, const AttentionMask& mask) const;
  void refuse_packed() const;
  void refuse_parts() const;
};

}  // namespace xgrad::nn
