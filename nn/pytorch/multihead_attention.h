// MultiheadAttention: multi-head attention with the parameters, names, options and results of PyTorch's layer.
//
// nn/attention/multi_head_attention.h has the layer with four separate maps, which also decodes step by step.
#pragma once

#include <string>
#include <variant>

#include "../attention/masks.h"
#include "../layers/linear.h"

namespace xgrad::nn::pytorch {

/// A mask of one call: nothing, booleans (true: masked), or values that are added to the scores.
using MaskOrBias = std::variant<std::monostate, Mask, Tensor>;

struct MultiheadAttentionOptions {
  double dropout = 0;  ///< dropout probability of the attention weights
  bool bias = true;
  bool add_bias_kv = false;    ///< adds one key and value that are parameters: bias_k, bias_v
  bool add_zero_attn = false;  ///< adds one key and value that are 0
  std::int64_t kdim = 0;       ///< width of the keys; embed_dim if 0
  std::int64_t vdim = 0;       ///< width of the values; embed_dim if 0
  bool batch_first = true;     ///< (B, T, C), as in all of this library; if false (T, B, C), PyTorch's default
};

/// The options of one call.
struct MultiheadCall {
  MaskOrBias key_padding_mask{};  ///< (B, S); if unbatched (S)
  MaskOrBias attn_mask{};         ///< (T, S), or (B H, T, S) with one mask for each head
  /// Query t attends to keys 0 ... t; attn_mask need not repeat this. The keys of add_bias_kv and add_zero_attn come
  /// last. As in PyTorch, causality applies to them only without need_weights and key_padding_mask. Otherwise every
  /// query attends to them.
  bool is_causal = false;
  bool need_weights = true;
  bool average_attn_weights = true;  ///< whether to return the mean of the weights over the heads
};

struct MultiheadOutput {
  Tensor output;   ///< has the layout of the query
  Tensor weights;  ///< (B, T, S), or (B, H, T, S) unless averaged; after dropout; without B if unbatched
};

/// Multi-head attention (Vaswani et al. 2017) with the parameters, names and initial values of PyTorch's layer:
///
///     head_h = dropout(softmax(q_h k_h' / sqrt(d) + bias)) v_h,      q = W_q query + b_q, k = ..., v = ..., d = C / H
///     y = W_o (head_1, ..., head_H) + b_o
///
/// W_q, W_k and W_v are one matrix in_proj_weight (3C, C). If kdim or vdim differs from C, they are three:
/// q_proj_weight (C, C), k_proj_weight (C, kdim), v_proj_weight (C, vdim). The other parameters are in_proj_bias (3C),
/// out_proj.weight (C, C), out_proj.bias (C), bias_k and bias_v (1, 1, C).
///
/// If all keys of a query are masked, its result is out_proj.bias, and its weights and gradients are 0. PyTorch returns
/// NaN.
struct MultiheadAttention : Module {
  using Options = MultiheadAttentionOptions;

  /// Throws ValueError for sizes below 1, an embed_dim that is not a multiple of `heads`, or a dropout outside [0, 1].
  MultiheadAttention(At here, std::int64_t embed_dim, std::int64_t heads, const Options& options = {});
  explicit MultiheadAttention(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// query (B, T, C), key (B, S, kdim), value (B, S, vdim). Unless batch_first, they are (T, B, C), (S, B, kdim), (S,
  /// B, vdim); unbatched (T, C), (S, kdim), (S, vdim). Throws ShapeError.
  ///
  ///     const auto [y, weights] = attn.forward(q, k, v, {.attn_mask = mask, .average_attn_weights = false});
  MultiheadOutput forward(const Tensor& query, const Tensor& key, const Tensor& value,
                          const MultiheadCall& call = {}) const;

  /// The same without weights, with the masks of this library. The first overload is self-attention: x (B, T, C) -> (B,
  /// T, C).
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {}) const;
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;

  const std::int64_t embed_dim;
  const std::int64_t heads;
  const Options options;  ///< with the actual kdim and vdim
  const Tensor in_proj_weight;
  const Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  const Tensor in_proj_bias;
  const Tensor bias_k, bias_v;
  Linear out_proj;

 protected:
  std::string extra_repr() const override { return str(embed_dim, ", ", heads, " heads"); }

 private:
  struct Operands;
  Tensor own_map(const char* name, std::int64_t width);
  Tensor project(const Tensor& x, std::int64_t part, const Tensor& own_weight) const;
  Tensor with_added(const Tensor& x, const Tensor& bias) const;
  std::int64_t added_keys() const { return options.add_bias_kv + options.add_zero_attn; }
  bool packed() const { return options.kdim == embed_dim && options.vdim == embed_dim; }
  Operands operands(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Tensor result(const Operands& x, const Tensor& heads_side_by_side) const;
};

}  // namespace xgrad::nn::pytorch
