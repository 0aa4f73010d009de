// Multi-head attention, all at once and step by step, as in transformers.
//
// One head with a score of one's choice: attention_scores.h. With PyTorch's parameters: pytorch/multihead_attention.h.
// At linear cost: linear_attention.h.
#pragma once

#include <optional>
#include <string>

#include "../../ops/network/rotary.h"
#include "../containers/maybe.h"
#include "../layers/linear.h"
#include "key_value_cache.h"
#include "masks.h"

namespace xgrad::nn {

/// The projected keys and values of a memory that every step attends to.
struct KeyValue {
  Tensor k;  ///< (B, S, C)
  Tensor v;

  std::int64_t length() const { return k.dim(1); }
  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

struct MultiHeadAttentionOptions {
  std::int64_t query = 0;  ///< widths of the inputs of queries, keys and values; `dim` if 0
  std::int64_t key = 0;
  std::int64_t value = 0;
  double dropout = 0;  ///< of the weights
  bool bias = false;
  std::optional<bool> o_bias = {};            ///< of the last map; as `bias` if not given
  std::optional<std::int64_t> kv_heads = {};  ///< so many heads have keys and values; H if not given
  bool packed = false;  ///< for self-attention: queries, keys and values side by side in one product
  std::optional<double> rotary_theta = {};  ///< queries and keys are turned by their positions: see rotary()
  RotaryLayout rotary_layout = RotaryLayout::halves;
  std::optional<RotaryScaling> rotary_scaling = {};
};
/// Multi-head attention (Vaswani et al. 2017, without biases unless asked for):
///
///     head_h = softmax(q_h k_g' / sqrt(d)) v_g,      d = C / H,      g = h kv_heads / H
///     y = W_o (head_1, ..., head_H)
///
/// with four maps of their own, q = W_q query, k = W_k key, v = W_v value, or packed: q, k, v = W_qkv x. With fewer
/// kv_heads than heads, several heads of queries share the keys and values of one (Ainslie et al. 2023), and a cache is
/// that much smaller.
struct MultiHeadAttention : Layer<MultiHeadAttention> {
  using Options = MultiHeadAttentionOptions;

  /// Throws ValueError for sizes below 1, a `dim` that does not divide by `heads` or `heads` by kv_heads, a dropout
  /// outside [0, 1], packed with widths of their own, and with rotary_theta for an odd d.
  MultiHeadAttention(At here, std::int64_t dim, std::int64_t heads, const Options& options = {});
  explicit MultiHeadAttention(Placeless, ...);  ///< does not compile: no place

  /// Self-attention: x (B, T, C) -> (B, T, C). Throws ShapeError.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  /// query (B, T, .), key (B, S, .), value (B, S, .) -> (B, T, C). Throws ShapeError, ValueError if packed.
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;

  /// The same in two parts, for decoding: keys and values are projected once and used at every step. Throw as those,
  /// and ValueError with rotary_theta, since the positions of the queries are not known here.
  KeyValue remember(const Tensor& key, const Tensor& value) const;
  Tensor forward(const Tensor& query, const KeyValue& memory, const AttentionMask& mask = {}) const;
  /// Causal self-attention of the next positions of a sequence, x (B, T, C), which see the `past` and each other; the
  /// past grows by them. With a window, each sees itself and window - 1 before. Throws ShapeError if x is of another
  /// batch size than the past, ValueError for a window below 1. If anything throws, hooks included, the past is
  /// unchanged.
  Tensor forward(const Tensor& x, KeyValueCache& past, std::optional<std::int64_t> window = {}) const;

  /// The call takes a mask in braces, too: attn(x, {.causal = true}).
  using Layer::operator();
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const { return Layer::operator()(x, mask); }
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask) const {
    return Layer::operator()(query, key, value, mask);
  }

  const std::int64_t dim;
  const std::int64_t heads;
  const std::int64_t kv_heads;
  const Options options;
  Maybe<Linear> qkv;      ///< packed: C -> (H + 2 kv_heads) d
  Maybe<Linear> q, k, v;  ///< else
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
