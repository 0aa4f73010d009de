// Attention pooling.
#include "attention_scores.h"

#include <cmath>
#include <limits>

#include "../../core/graph/record.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/compare.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/indexing/index.h"
#include "../../ops/network/dropout.h"
#include "../../ops/network/softmax.h"
#include "../../ops/products/matmul.h"
#include "../../ops/reduce/reduce.h"
#include "../../ops/shape/shape.h"
#include "attention_recorder.h"

namespace xgrad::nn {
namespace {

// x (B, S, .) with 0 at the keys that no query sees, so that numbers there, NaN included, reach nothing: `masked` is
// (B, 1, T, S).
Tensor without_masked(const Tensor& x, const Mask& masked) {
  const std::int64_t B = masked.dim(0), T = masked.dim(2), S = masked.dim(3);
  Mask everywhere({B, S, 1}, true);
  bool* out = everywhere.mutable_data();
  for (std::int64_t i = 0; i < masked.size(); ++i) out[i / (T * S) * S + i % S] &= masked.data()[i];
  return any(everywhere) ? masked_fill(x, everywhere, 0) : x;
}

[[noreturn]] void refuse(const char* rule, const Tensor& q, const Tensor& k, const Tensor& v) {
  const std::string values = v.defined() ? str(", v ", v.shape()) : "";
  fail<ShapeError>("attention", rule, ": q ", q.shape(), ", k ", k.shape(), values);
}

// The requirements of all scores on queries and keys, and of the weighted sum on values.
void check(const Tensor& q, const Tensor& k, const Tensor& v = {}) {
  if (q.rank() != 3 || k.rank() != 3 || (v.defined() && v.rank() != 3)) {
    refuse("needs three axes (batch, positions, width)", q, k, v);
  }
  if (q.dim(0) != k.dim(0) || (v.defined() && k.dim(0) != v.dim(0))) refuse("batch sizes differ", q, k, v);
  if (v.defined() && k.dim(1) != v.dim(1)) refuse("keys and values differ in number", q, k, v);
}

}  // namespace

// -- base class -------------------------------------------------------------------------------------------------------

AttentionPooling::AttentionPooling(At here, double p, Class derived)
    : Module(std::move(here)), derived_(derived), dropout(probability("dropout", p)) {}

std::string AttentionPooling::class_name() const {
  return Class::of(*this) == Class::of<AttentionPooling>() ? derived_.name() : Module::class_name();
}

Tensor AttentionPooling::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionMask& mask) const {
  const auto here = enter(q, k, v);
  check(q, k, v);
  show_attention_weights(*this, [&] {
    return unsqueeze(weights(q, k, mask), 1).value();  // (B, 1, T, S)
  });
  return here(pool(q, k, v, with_own(mask, q.dim(1), k.dim(1))));
}

Tensor AttentionPooling::weights(const Tensor& q, const Tensor& k, const AttentionMask& mask) const {
  const auto here = enter();
  check(q, k);
  const AttentionMask all = with_own(mask, q.dim(1), k.dim(1));
  return softmax_of_scores(q, k, all.bias, masked_keys(all, {q.dim(0), q.dim(1), k.dim(1)}, "attention"));
}

Tensor AttentionPooling::softmax_of_scores(const Tensor& q, const Tensor& k, const Tensor& bias,
                                           const Mask& masked) const {
  const Tensor given = score(q, without_masked(k, masked));
  if (const Shape expected{q.dim(0), q.dim(1), k.dim(1)}; given.shape() != expected) {
    fail<ShapeError>("attention", "scores of shape ", given.shape(), ", needs ", expected);
  }
  const Tensor scores = unsqueeze(given, 1);  // (B, 1, T, S), as masks have it
  if (bias.defined() && !broadcasts_to(bias.shape(), scores.shape())) {
    fail<ShapeError>("attention", "bias of shape ", bias.shape(), " cannot become ", scores.shape());
  }
  return squeeze(masked_softmax(bias.defined() ? scores + bias : scores, masked), {1});
}

Tensor AttentionPooling::pool(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask) const {
  const Mask masked = masked_keys(mask, {q.dim(0), q.dim(1), k.dim(1)}, "attention");
  const Tensor all = softmax_of_scores(q, k, mask.bias, masked);  // (B, T, S)
  const double p = training() ? dropout : 0;
  return weighted_sum(p > 0 ? xgrad::dropout(all, p) : all, v);  // (B, T, e)
}

AttentionMask AttentionPooling::with_own(const AttentionMask& mask, std::int64_t, std::int64_t) const { return mask; }

double AttentionPooling::finite(const char* name, double value) const {
  const Scope scope(place());
  if (!(std::abs(value) <= static_cast<double>(std::numeric_limits<Real>::max()))) {
    fail<ValueError>("attention", name, " ", value, " is not finite");
  }
  return value;
}

// -- dot products -----------------------------------------------------------------------------------------------------

double detail::ProductPooling::scale_of(const Tensor& q) const {
  return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(q.dim(-1), 1)));
}

Tensor detail::ProductPooling::score(const Tensor& q, const Tensor& k) const {
  check(q, k);
  const double scale = scale_of(q);
  const Tensor factor = query(q);
  return matmul(scale == 1 ? factor : factor * scale, k, {.transpose_b = true});
}

Tensor detail::ProductPooling::pool(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionMask& mask) const {
  const double p = training() ? dropout : 0;
  return multi_head_attention(query(q), k, v, 1, {.mask = mask, .dropout = p, .scale = scale_of(q)});
}

WindowOptions BandAttention::checked(const BandAttentionOptions& given) const {
  const Scope scope(place());
  return *nn::window({.before = given.before, .after = given.after}).band;
}

AttentionMask BandAttention::with_own(const AttentionMask& mask, std::int64_t T, std::int64_t S) const {
  if (T != S) fail<ShapeError>("windowed_attention", "needs as many queries as keys, got ", T, " and ", S);
  return mask & nn::window(window);
}

// -- others -----------------------------------------------------------------------------------------------------------

Tensor AdditiveAttention::score(const Tensor& q, const Tensor& k) const {
  check(q, k);
  const Tensor features = tanh(unsqueeze(w_q(q), 2) + unsqueeze(w_k(k), 1));  // (B, T, S, h)
  return squeeze(w_v(features), {-1});
}

Tensor GaussianAttention::score(const Tensor& q, const Tensor& k) const {
  check(q, k);
  if (q.dim(2) != k.dim(2)) refuse("queries and keys differ in width", q, k, {});
  const Tensor distance = (unsqueeze(q, 2) - unsqueeze(k, 1)) * w;  // (B, T, S, d)
  return sum(square(distance), -1) * -0.5;
}

// -- self-attention ---------------------------------------------------------------------------------------------------

SelfAttention::SelfAttention(At here, std::int64_t in, std::int64_t d, const Options& options)
    : Layer(std::move(here)),
      w_q(at("w_q"), in, d, {.bias = false}),
      w_k(at("w_k"), in, d, {.bias = false}),
      w_v(at("w_v"), in, d, {.bias = false}),
      attn(at("attn"), {.dropout = options.dropout}) {}

Tensor SelfAttention::forward(const Tensor& x, const AttentionMask& mask) const {
  return attn(w_q(x), w_k(x), w_v(x), mask);
}

Tensor SelfAttention::columns(const Tensor& x) const {
  const ModuleScope here(*this, x);
  if (x.rank() != 3) fail<ShapeError>("self_attention", "needs three axes (batch, width, positions), got ", x.shape());
  const Tensor q = matmul(w_q.weight, x), k = matmul(w_k.weight, x), v = matmul(w_v.weight, x);  // (B, d, T)
  const double sqrt_width = std::sqrt(static_cast<double>(w_q.out));
  Tensor weights = softmax(matmul(k, q / sqrt_width, {.transpose_a = true}), 1);  // (B, S, T), columns sum to 1
  if (training() && attn.dropout > 0) weights = dropout(weights, attn.dropout);
  return here(matmul(v, weights));
}

}  // namespace xgrad::nn
