// Self-attention with queries, keys and values from one map, all at once and step by step: what GPT, Llama and BERT are
// made of.
#pragma once

#include <optional>
#include <string>

#include "../../ops/layers/rotary.h"
#include "../layers/linear.h"
#include "key_value_cache.h"
#include "masks.h"

namespace xgrad::nn {

struct PackedSelfAttentionOptions {
  std::optional<std::int64_t> kv_heads = {};  ///< so many heads have keys and values; H if not given
  double dropout = 0;                         ///< of the weights
  bool bias = true;
  std::optional<double> rotary_theta = {};  ///< queries and keys are turned by their positions: see rotary()
  RotaryLayout rotary_layout = RotaryLayout::halves;
  std::optional<RotaryScaling> rotary_scaling = {};
  std::optional<bool> o_bias = {};  ///< of the last map; as `bias` if not given
};
/// Multi-head self-attention (Vaswani et al. 2017), its queries, keys and values side by side in one product:
///
///     q, k, v = W_qkv x,      head_h = softmax(q_h k_g' / sqrt(d)) v_g,      d = C / H,      g = h kv_heads / H
///     y = W_o (head_1, ..., head_H)
///
/// With fewer kv_heads than heads, several heads of queries share the keys and values of one (Ainslie et al. 2023), and
/// a cache is that much smaller.
struct PackedSelfAttention : Module {
  using Options = PackedSelfAttentionOptions;

  /// Throws ValueError for sizes below 1, a `dim` that does not divide by `heads` or `heads` by kv_heads, a dropout
  /// outside [0, 1], and with rotary_theta for an odd d.
  PackedSelfAttention(At here, std::int64_t dim, std::int64_t heads, const Options& options = {});
  explicit PackedSelfAttention(Placeless, ...);  ///< does not compile: no place

  /// x (B, T, C) -> (B, T, C). Throws ShapeError.
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {}) const;
  /// Causal self-attention of the next positions of a sequence, x (B, T, C), which see the `past` and each other; the
  /// past grows by them. With a window, each sees itself and window - 1 before. Throws ShapeError if x is of another
  /// batch size than the past, ValueError for a window below 1. Whatever it throws, hooks included, the past is as it
  /// was.
  Tensor extend(const Tensor& x, KeyValueCache& past, std::optional<std::int64_t> window = {}) const;

  const std::int64_t dim;
  const std::int64_t heads;
  const std::int64_t kv_heads;
  const Options options;
  Linear qkv;  ///< C -> (H + 2 kv_heads) d
  Linear o;

 protected:
  std::string settings() const override;

 private:
  struct Heads {
    Tensor q, k, v;  // (B, T, H d), (B, T, kv_heads d)
  };
  Heads project(const Tensor& x, std::int64_t first) const;
};

}  // namespace xgrad::nn
