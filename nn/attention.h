// Attention layers, and a scope that keeps the weights they give.
//
// All of them score every key against every query, turn the scores of a query into weights that sum to 1, and return
// the weighted sum of the values:
//
//     y = softmax(score(q, k)) v
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <xgrad/nn/dropout.h>
#include <xgrad/nn/linear.h>
#include <xgrad/nn/masks.h>

namespace xgrad::inline XGRAD_ABI::nn {

struct DotProductAttentionOptions {
  double dropout = 0;  ///< of the weights
};
/// score = q k' / sqrt(d)
struct DotProductAttention : Module {
  /// Throws ValueError for a dropout outside [0, 1].
  DotProductAttention(At here, const DotProductAttentionOptions& options = {});

  /// q (B, T, d), k (B, S, d), v (B, S, e) -> (B, T, e). Throws ShapeError, ValueError as scaled_dot_product_attention.
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask = {}) const;

  const double dropout;

 protected:
  std::string settings() const override;
};

struct AdditiveAttentionOptions {
  std::int64_t query = 0;   ///< width of the queries
  std::int64_t key = 0;     ///< width of the keys
  std::int64_t hidden = 0;  ///< h
  double dropout = 0;       ///< of the weights
};
/// score = w_v' tanh(W_q q + W_k k)      (Bahdanau, Cho, Bengio 2015)
struct AdditiveAttention : Module {
  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  AdditiveAttention(At here, const AdditiveAttentionOptions& options);

  /// q (B, T, query), k (B, S, key), v (B, S, e) -> (B, T, e). Throws ShapeError.
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask = {}) const;

  Linear w_q, w_k, w_v;
  Dropout dropout;

 protected:
  std::string settings() const override;
};

/// The projected keys and values of positions that were seen before.
struct KeyValue {
  Tensor k;  ///< (B, S, C); undefined when there are none yet
  Tensor v;

  std::int64_t length() const { return k.defined() ? k.dim(1) : 0; }
  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

struct MultiHeadOptions {
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
struct Attention : Module {
  /// Throws ValueError for sizes below 1, a `dim` that does not divide by `heads`, or a dropout outside [0, 1].
  Attention(At here, std::int64_t dim, std::int64_t heads, const MultiHeadOptions& options = {});

  /// Self-attention: x (B, T, C) -> (B, T, C).
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {}) const;
  /// query (B, T, .), key (B, S, .), value (B, S, .) -> (B, T, C). Throws ShapeError.
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;

  /// The parts of the above, for decoding: keys and values are projected once and used at every step.
  KeyValue remember(const Tensor& key, const Tensor& value) const;
  Tensor attend(const Tensor& query, const KeyValue& memory, const AttentionMask& mask = {}) const;
  /// Causal self-attention of the next positions of a sequence, x (B, T, C), which see the `past` and each other; the
  /// past grows by them. Throws ShapeError if x is of another batch size than the past.
  Tensor extend(const Tensor& x, KeyValue& past) const;

  const std::int64_t dim;
  const std::int64_t heads;
  const double dropout;
  Linear q, k, v, o;

 protected:
  std::string settings() const override;

 private:
  Tensor answer(const Tensor& query, const KeyValue& memory, const AttentionMask& mask) const;
};

struct MultiheadAttentionOptions {
  double dropout = 0;  ///< of the weights
  bool bias = true;
  std::int64_t kdim = 0;  ///< width of the keys; as embed_dim if 0
  std::int64_t vdim = 0;  ///< width of the values; as embed_dim if 0
};
/// The same with the parameters, names and first numbers of PyTorch's layer: the maps of queries, keys and values are
/// one matrix, in_proj_weight (3C, C); or three, q_proj_weight (C, C), k_proj_weight (C, kdim), v_proj_weight (C,
/// vdim), when kdim or vdim is given.
struct MultiheadAttention : Module {
  /// Throws as Attention.
  MultiheadAttention(At here, std::int64_t embed_dim, std::int64_t heads,
                     const MultiheadAttentionOptions& options = {});

  /// Self-attention: x (B, T, C) -> (B, T, C).
  Tensor operator()(const Tensor& x, const AttentionMask& mask = {}) const;
  /// query (B, T, C), key (B, S, kdim), value (B, S, vdim) -> (B, T, C). Throws ShapeError.
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask = {}) const;

  const std::int64_t embed_dim;
  const std::int64_t heads;
  const double dropout;
  const Tensor in_proj_weight;
  const Tensor q_proj_weight, k_proj_weight, v_proj_weight;
  const Tensor in_proj_bias;  ///< (3C)
  Linear out_proj;

 protected:
  std::string settings() const override;

 private:
  Tensor project(const Tensor& x, std::int64_t part, const Tensor& own_weight) const;
};

/// While it lives, attention layers of this thread also keep their weights (before dropout), for heat maps.
///
///     const nn::AttentionRecorder recorder;
///     model(source, lengths, target);
///     const Array weights = recorder.last("encoder.blocks.0.attn");        // (B, H, T, S)
class AttentionRecorder {
 public:
  struct Record {
    std::string path;  ///< of the module
    Array weights;     ///< (B, H, T, S)
  };

  AttentionRecorder();
  ~AttentionRecorder();
  AttentionRecorder(const AttentionRecorder&) = delete;
  AttentionRecorder& operator=(const AttentionRecorder&) = delete;

  /// In the order in which the layers ran.
  const std::vector<Record>& records() const { return records_; }
  /// The newest weights of a module. Throws ValueError, with the paths there are, if it has not run.
  const Array& last(std::string_view path) const;

  /// For those who write attention layers: gives the current recorder, if there is one, what `weights()` returns.
  template <class F>
  static void offer(const Module& module, const F& weights) {
    if (current_) current_->records_.push_back({module.path(), weights()});
  }

 private:
  std::vector<Record> records_;
  AttentionRecorder* outer_;
  static thread_local constinit AttentionRecorder* current_;
};

}  // namespace xgrad::inline XGRAD_ABI::nn
