// Multi-head attention, all at once and step by step.
//
// One head with a score of one's choice: attention_scores.h. With PyTorch's parameters: pytorch/multihead_attention.h.
// At linear cost: linear_attention.h.
#pragma once

#include <string>

#include "../layers/linear.h"
#include "key_value_cache.h"
#include "masks.h"

namespace xgrad::nn {

/// The projected keys and values of what is attended to at every step.
struct KeyValue {
  Tensor k;  ///< (B, S, C)
  Tensor v;

  std::int64_t length() const { return k.dim(1); }
  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

struct MultiHeadAttentionOptions {
  std::int64_t query = 0;  ///< width of what the queries, keys and values are made from; as `dim` if 0
  std::int64_t key = 0;
  std::int64_t value = 0;
  double dropout = 0;  ///< of the weights
  bool bias = false;
};
/// Multi-head attention with four maps of their own (Vaswani et al. 2017, without biases):
///
///     head_h = softmax(q_h k_h' / sqrt(d)) v_h,      q = W_q query, k = W_k key, v = W_v value, d = C / H
///     y = W_o (head_1, ..., head_H)
struct MultiHeadAttention : Module {
  using Options = MultiHeadAttentionOptions;

  /// Throws ValueError for sizes below 1, a `dim` that does not divide by `heads`, or a dropout outside [0, 1].
  MultiHeadAttention(At here, std::int64_t dim, std::int64_t heads, const Options& options = {});
  explicit MultiHeadAttention(Placeless, ...);  ///< does not compile: no place

  /// Self-attention: x (B, T, C) -> (B, T, C).
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {}) const;
  /// query (B, T, .), key (B, S, .), value (B, S, .) -> (B, T, C). Throws ShapeError.
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;

  /// The parts of the above, for decoding: keys and values are projected once and used at every step.
  KeyValue remember(const Tensor& key, const Tensor& value) const;
  Tensor attend(const Tensor& query, const KeyValue& memory, const AttentionMask& mask = {}) const;
  /// Causal self-attention of the next positions of a sequence, x (B, T, C), which see the `past` and each other; the
  /// past grows by them. Throws ShapeError if x is of another batch size than the past. Whatever it throws, hooks
  /// included, the past is as it was.
  Tensor extend(const Tensor& x, KeyValueCache& past) const;

  const std::int64_t dim;
  const std::int64_t heads;
  const double dropout;
  Linear q, k, v, o;

 protected:
  std::string settings() const override;

 private:
  Tensor answer(const Tensor& query, const KeyValue& memory, const AttentionMask& mask) const;
};

}  // namespace xgrad::nn
