// Attention pooling: a score for every query and key, a softmax over the keys, and the weighted sum of the values. Each
// score has its own class.
//
//     y = softmax(score(q, k)) v
//
//     void report(const nn::AttentionPooling& attn);                 // takes any of the classes
//     const nn::AdditiveAttention attn{nn::root, {.query = 20, .key = 2, .hidden = 8}};
//     const Tensor y = attn(q, k, v, nn::padding(lengths));          // (B, T, e)
#pragma once

#include <optional>
#include <string>

#include "../layers/linear.h"
#include "masks.h"

namespace xgrad::nn {

/// The base class of all kinds of attention pooling. For a new score, derive a class and define score().
struct AttentionPooling : Module {
 private:
  const Class derived_;  // see the constructor

 public:
  /// Scores, softmax over the unmasked keys, dropout (in training), and the weighted sum of the values. q (B, T, .), k
  /// (B, S, .), v (B, S, e) -> (B, T, e). Throws ShapeError, and ValueError for lengths outside [0, S].
  Tensor operator()(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask = {}) const;

  /// The score of each query and key, before any mask: (B, T, S). Throws ShapeError.
  virtual Tensor score(const Tensor& q, const Tensor& k) const = 0;
  /// The attention weights, before dropout: (B, T, S). Throws ShapeError if the inputs, or the result of score(), have
  /// wrong shapes.
  Tensor weights(const Tensor& q, const Tensor& k, const AttentionMask& mask = {}) const;

  const double dropout;  ///< dropout probability of the attention weights

 protected:
  /// Throws ValueError for a dropout outside [0, 1]. `derived` is the class that the error names.
  AttentionPooling(At here, double p, Class derived = Class::of<AttentionPooling>());
  std::string class_name() const override;

  /// Scores, softmax over the keys that `mask` admits, weighted sum. Override it if one fused operation computes all
  /// this.
  virtual Tensor pool(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask) const;
  /// The caller's mask combined with the mask of the class, for T queries and S keys.
  virtual AttentionMask with_own(const AttentionMask& mask, std::int64_t T, std::int64_t S) const;
  /// Returns `value`. Throws ValueError if it is not finite.
  double finite(const char* name, double value) const;
  std::string extra_repr() const override { return dropout > 0 ? str("dropout ", dropout) : ""; }

 private:
  Tensor softmax_of_scores(const Tensor& q, const Tensor& k, const Tensor& bias, const Mask& masked) const;
};

namespace detail {
/// score = scale query(q) k', computed with softmax and sum in one fused operation.
struct ProductPooling : AttentionPooling {
  using AttentionPooling::AttentionPooling;

  Tensor score(const Tensor& q, const Tensor& k) const final;

 protected:
  virtual Tensor query(const Tensor& q) const { return q; }
  /// The factor of the scores: 1/sqrt(d) by default.
  virtual double scale_of(const Tensor& q) const;
  Tensor pool(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask) const final;
};

/// A kind of attention pooling with options. The options have a member `dropout`.
template <class Self, class OptionsOf, class Base = AttentionPooling>
struct PoolingLayer : Base {
  using Options = OptionsOf;

  explicit PoolingLayer(At here, const Options& given = {})
      : Base(std::move(here), given.dropout, Class::of<Self>()), options(given) {}
  template <class... Rest>
  explicit PoolingLayer(Module::Placeless, const Rest&...);

  const Options options;
};
}  // namespace detail

struct DotProductAttentionOptions {
  double dropout = 0;             ///< dropout probability of the attention weights
  std::optional<double> scale{};  ///< factor of the scores; 1/sqrt(d) by default; 1 gives the unscaled dot product
};
/// score = scale q k'      (Vaswani et al. 2017; with scale = 1: Luong, Pham, Manning 2015)
/// Throws ValueError for a dropout outside [0, 1] or a scale that is not finite.
struct DotProductAttention
    : detail::PoolingLayer<DotProductAttention, DotProductAttentionOptions, detail::ProductPooling> {
  using PoolingLayer::PoolingLayer;

  const std::optional<double> scale = options.scale ? std::optional(finite("scale", *options.scale)) : std::nullopt;

 protected:
  double scale_of(const Tensor& q) const override { return scale ? *scale : ProductPooling::scale_of(q); }
};

struct BandAttentionOptions {
  std::int64_t before = 0;
  std::int64_t after = 0;
  double dropout = 0;  ///< dropout probability of the attention weights
};
/// Scaled dot-product attention within a band: position t attends to positions t - before ... t + after. There are as
/// many queries as keys. Time is proportional to T (before + after + 1), memory to T. Throws ShapeError for another
/// number of keys, and ValueError for a negative `before` or `after` or a dropout outside [0, 1].
struct BandAttention : detail::PoolingLayer<BandAttention, BandAttentionOptions, detail::ProductPooling> {
  using PoolingLayer::PoolingLayer;

  const WindowOptions window = checked(options);

 protected:
  AttentionMask with_own(const AttentionMask& mask, std::int64_t T, std::int64_t S) const override;
  std::string extra_repr() const override { return str(window.before, " before, ", window.after, " after"); }

 private:
  WindowOptions checked(const BandAttentionOptions& given) const;
};

struct BilinearAttentionOptions {
  std::int64_t query = 0;  ///< width of the queries
  std::int64_t key = 0;    ///< width of the keys
  double dropout = 0;      ///< dropout probability of the attention weights
};
/// score = q W k', called "general" by Luong, Pham, Manning (2015).
/// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
struct BilinearAttention : detail::PoolingLayer<BilinearAttention, BilinearAttentionOptions, detail::ProductPooling> {
  using PoolingLayer::PoolingLayer;

  Linear w{at("w"), options.query, options.key, {.bias = false}};  ///< its weight is (key, query)

 protected:
  Tensor query(const Tensor& q) const override { return w(q); }
  double scale_of(const Tensor&) const override { return 1; }
  std::string extra_repr() const override { return str(w.in, ", ", w.out); }
};

struct AdditiveAttentionOptions {
  std::int64_t query = 0;   ///< width of the queries
  std::int64_t key = 0;     ///< width of the keys
  std::int64_t hidden = 0;  ///< h, width of the hidden layer
  double dropout = 0;       ///< dropout probability of the attention weights
};
/// score = w_v' tanh(W_q q + W_k k)      (Bahdanau, Cho, Bengio 2015)
/// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
struct AdditiveAttention : detail::PoolingLayer<AdditiveAttention, AdditiveAttentionOptions> {
  using PoolingLayer::PoolingLayer;

  Tensor score(const Tensor& q, const Tensor& k) const override;

  Linear w_q{at("w_q"), options.query, options.hidden, {.bias = false}};
  Linear w_k{at("w_k"), options.key, options.hidden, {.bias = false}};
  Linear w_v{at("w_v"), options.hidden, 1, {.bias = false}};

 protected:
  std::string extra_repr() const override { return str(w_q.in, ", ", w_k.in, " -> ", w_q.out); }
};

struct GaussianAttentionOptions {
  double w = 1;          ///< the inverse of the width of the kernel
  bool trained = false;  ///< whether w is a parameter
  double dropout = 0;    ///< dropout probability of the attention weights
};
/// score = -|w (q - k)|^2 / 2      (kernel regression of data points (k, v): Nadaraya 1964, Watson 1964)
/// Throws ValueError for a dropout outside [0, 1] or a w that is not finite.
struct GaussianAttention : detail::PoolingLayer<GaussianAttention, GaussianAttentionOptions> {
  using PoolingLayer::PoolingLayer;

  /// q (B, T, d), k (B, S, d) -> (B, T, S).
  Tensor score(const Tensor& q, const Tensor& k) const override;

  const Tensor w = options.trained ? param("w", {}, init::constant(finite("w", options.w)))
                                   : Tensor(finite("w", options.w));  ///< a scalar
};

struct SelfAttentionOptions {
  double dropout = 0;  ///< dropout probability of the attention weights
};
/// Self-attention with one head. Queries, keys and values are linear maps of the same sequence:
///
///     Q = X W_q', K = X W_k', V = X W_v',      y = softmax(Q K' / sqrt(d)) V
struct SelfAttention : Layer<SelfAttention> {
  using Options = SelfAttentionOptions;

  /// Throws ValueError for sizes below 1 or a dropout outside [0, 1].
  SelfAttention(At here, std::int64_t in, std::int64_t d, const Options& options = {});
  explicit SelfAttention(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// Positions are the rows of x: x (B, T, in) -> (B, T, d). Throws ShapeError.
  Tensor forward(const Tensor& x, const AttentionMask& mask = {}) const;
  /// The same layer in the notation of some texts, in which positions are columns: x (B, in, T) -> (B, d, T).
  ///
  ///     Q = W_q X, K = W_k X, V = W_v X,      O = V softmax(K' Q / sqrt(d)), the softmax over each column
  Tensor columns(const Tensor& x) const;

  Linear w_q, w_k, w_v;
  DotProductAttention attn;

 protected:
  std::string extra_repr() const override { return str(w_q.in, " -> ", w_q.out); }
};

}  // namespace xgrad::nn
