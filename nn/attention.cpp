// Attention layers.
#include <xgrad/nn/attention.h>

#include <cmath>

#include <xgrad/core/record.h>
#include <xgrad/ops/arithmetic.h>
#include <xgrad/ops/elementwise.h>
#include <xgrad/ops/index.h>
#include <xgrad/ops/matmul.h>
#include <xgrad/ops/normalize.h>
#include <xgrad/ops/shape.h>

namespace xgrad::inline XGRAD_ABI::nn {
namespace {

// Scores (B, 1, T, S) to weights.
Tensor masked_weights(const Tensor& scores, const AttentionMask& mask) {
  const Shape& shape = scores.shape();
  const Tensor biased = mask.bias.defined() ? scores + mask.bias : scores;
  return blocked_softmax(biased, blocked_keys(mask, {shape[0], shape[2], shape[3]}));
}

}  // namespace

// -- one head ---------------------------------------------------------------------------------------------------------

DotProductAttention::DotProductAttention(At here, const DotProductAttentionOptions& options)
    : Module(std::move(here)), dropout(probability("dropout", options.dropout)) {}

Tensor DotProductAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionMask& mask) const {
  const auto here = enter(q, k, v);
  return here(attend_heads(*this, q, k, v, 1, mask, dropout));
}

std::string DotProductAttention::settings() const { return dropout > 0 ? cat("dropout ", dropout) : ""; }

AdditiveAttention::AdditiveAttention(At here, const AdditiveAttentionOptions& options)
    : Module(std::move(here)),
      w_q(at("w_q"), options.query, options.hidden, {.bias = false}),
      w_k(at("w_k"), options.key, options.hidden, {.bias = false}),
      w_v(at("w_v"), options.hidden, 1, {.bias = false}),
      dropout(at("dropout"), options.dropout) {}

Tensor AdditiveAttention::operator()(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const AttentionMask& mask) const {
  const auto here = enter(q, k, v);
  const Tensor features = tanh(unsqueeze(w_q(q), 2) + unsqueeze(w_k(k), 1));  // (B, T, S, h)
  const Tensor scores = squeeze(w_v(features), {-1});                         // (B, T, S)
  const Tensor weights = masked_weights(unsqueeze(scores, 1), mask);          // (B, 1, T, S)
  AttentionRecorder::offer(*this, [&] { return weights.value(); });
  return here(matmul(dropout(squeeze(weights, {1})), v));  // (B, T, e)
}

std::string AdditiveAttention::settings() const { return cat(w_q.in, ", ", w_k.in, " -> ", w_q.out); }

// -- many heads -------------------------------------------------------------------------------------------------------

void KeyValue::select(const Index& rows) {
  if (!k.defined()) return;
  k = index_select(k, 0, rows);
  v = index_select(v, 0, rows);
}

Attention::Attention(At here, std::int64_t width, std::int64_t head_count, const MultiHeadOptions& options)
    : Module(std::move(here)),
      dim(positive("dim", width)),
      heads(positive("heads", head_count)),
      dropout(probability("dropout", options.dropout)),
      q(at("q"), options.query ? options.query : dim, dim, {.bias = options.bias}),
      k(at("k"), options.key ? options.key : dim, dim, {.bias = options.bias}),
      v(at("v"), options.value ? options.value : dim, dim, {.bias = options.bias}),
      o(at("o"), dim, dim, {.bias = options.bias}) {
  const Scope scope(&path());
  if (dim % heads != 0) fail<ValueError>("attention", "dim ", dim, " does not divide by ", heads, " heads");
}

Tensor Attention::operator()(const Tensor& x, const AttentionMask& mask) const { return (*this)(x, x, x, mask); }

Tensor Attention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                             const AttentionMask& mask) const {
  const auto here = enter(query, key, value);
  return here(answer(query, remember(key, value), mask));
}

KeyValue Attention::remember(const Tensor& key, const Tensor& value) const { return {k(key), v(value)}; }

Tensor Attention::answer(const Tensor& query, const KeyValue& memory, const AttentionMask& mask) const {
  return o(attend_heads(*this, q(query), memory.k, memory.v, heads, mask, dropout));
}

Tensor Attention::attend(const Tensor& query, const KeyValue& memory, const AttentionMask& mask) const {
  const auto here = enter(query);
  return here(answer(query, memory, mask));
}

Tensor Attention::extend(const Tensor& x, KeyValue& past) const {
  const auto here = enter(x);
  const std::int64_t before = past.length();
  if (before > 0 && x.dim(0) != past.k.dim(0)) {
    fail<ShapeError>("attention", "batch sizes differ: ", x.shape(), " after a past of ", past.k.shape());
  }
  const KeyValue fresh = remember(x, x);
  KeyValue all = before == 0 ? fresh : KeyValue{concat({past.k, fresh.k}, 1), concat({past.v, fresh.v}, 1)};
  AttentionMask mask;  // a single new position may see everything
  if (before == 0) {
    mask.causal = true;
  } else if (x.dim(1) > 1) {
    mask.ignore = causal_mask(x.dim(1), before);
  }
  const Tensor y = answer(x, all, mask);
  past = std::move(all);
  return here(y);
}

std::string Attention::settings() const { return cat(dim, ", ", heads, " heads"); }

}  // namespace xgrad::inline XGRAD_ABI::nn
