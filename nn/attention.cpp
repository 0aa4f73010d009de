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

void check_dropout(double p) {
  if (!(p >= 0 && p <= 1)) fail<ValueError>("attention", "dropout must be in [0, 1], got ", p);
}

void check_heads(std::int64_t dim, std::int64_t heads) {
  if (dim % heads != 0) fail<ValueError>("attention", "dim ", dim, " does not divide by ", heads, " heads");
}

// Multi-head attention of a module, with its weights offered to the recorder.
Tensor attend_heads(const Module& module, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                    const AttentionMask& mask, double dropout) {
  AttentionRecorder::offer(module, [&] {
    const NoGrad off;
    return attention_weights(q, k, heads, {.mask = mask}).value();
  });
  const double p = module.training() ? dropout : 0;
  return multi_head_attention(q, k, v, heads, {.mask = mask, .dropout = static_cast<Real>(p)});
}

// Scores (B, 1, T, S) to weights.
Tensor masked_weights(const Tensor& scores, const AttentionMask& mask) {
  const Shape& shape = scores.shape();
  const Tensor biased = mask.bias.defined() ? scores + mask.bias : scores;
  return blocked_softmax(biased, blocked_keys(mask, {shape[0], shape[2], shape[3]}));
}

}  // namespace

// -- one head ---------------------------------------------------------------------------------------------------------

DotProductAttention::DotProductAttention(At here, const DotProductAttentionOptions& options)
    : Module(std::move(here)), dropout(options.dropout) {
  const Scope scope(&path());
  check_dropout(dropout);
}

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
      dropout(options.dropout),
      q(at("q"), options.query ? options.query : dim, dim, {.bias = options.bias}),
      k(at("k"), options.key ? options.key : dim, dim, {.bias = options.bias}),
      v(at("v"), options.value ? options.value : dim, dim, {.bias = options.bias}),
      o(at("o"), dim, dim, {.bias = options.bias}) {
  const Scope scope(&path());
  check_heads(dim, heads);
  check_dropout(dropout);
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

MultiheadAttention::MultiheadAttention(At here, std::int64_t width, std::int64_t head_count,
                                       const MultiheadAttentionOptions& options)
    : Module(std::move(here)),
      embed_dim(positive("embed_dim", width)),
      heads(positive("heads", head_count)),
      dropout(options.dropout),
      in_proj_weight(options.kdim || options.vdim
                         ? Tensor()
                         : param("in_proj_weight", {3 * embed_dim, embed_dim}, init::xavier_uniform())),
      q_proj_weight(in_proj_weight.defined() ? Tensor()
                                             : param("q_proj_weight", {embed_dim, embed_dim}, init::xavier_uniform())),
      k_proj_weight(
          in_proj_weight.defined()
              ? Tensor()
              : param("k_proj_weight", {embed_dim, options.kdim ? options.kdim : embed_dim}, init::xavier_uniform())),
      v_proj_weight(
          in_proj_weight.defined()
              ? Tensor()
              : param("v_proj_weight", {embed_dim, options.vdim ? options.vdim : embed_dim}, init::xavier_uniform())),
      in_proj_bias(options.bias ? param("in_proj_bias", {3 * embed_dim}, init::zeros()) : Tensor()),
      out_proj(at("out_proj"), embed_dim, embed_dim, {.bias = options.bias, .bias_init = init::zeros()}) {
  const Scope scope(&path());
  check_heads(embed_dim, heads);
  check_dropout(dropout);
}

Tensor MultiheadAttention::operator()(const Tensor& x, const AttentionMask& mask) const {
  return (*this)(x, x, x, mask);
}

// The queries (part 0), keys (1) or values (2) made from x. Cutting the weight costs less than cutting one wide result.
Tensor MultiheadAttention::project(const Tensor& x, std::int64_t part, const Tensor& own_weight) const {
  const std::int64_t first = part * embed_dim;
  return linear(x, in_proj_weight.defined() ? narrow(in_proj_weight, 0, first, embed_dim) : own_weight,
                in_proj_bias.defined() ? narrow(in_proj_bias, 0, first, embed_dim) : Tensor());
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMask& mask) const {
  const auto here = enter(query, key, value);
  const Tensor q = project(query, 0, q_proj_weight);  // (B, T, C)
  const Tensor k = project(key, 1, k_proj_weight);    // (B, S, C)
  const Tensor v = project(value, 2, v_proj_weight);  // (B, S, C)
  return here(out_proj(attend_heads(*this, q, k, v, heads, mask, dropout)));
}

std::string MultiheadAttention::settings() const { return cat(embed_dim, ", ", heads, " heads"); }

// -- recording --------------------------------------------------------------------------------------------------------

thread_local constinit AttentionRecorder* AttentionRecorder::current_ = nullptr;

AttentionRecorder::AttentionRecorder() : outer_(std::exchange(current_, this)) {}
AttentionRecorder::~AttentionRecorder() { current_ = outer_; }

const Array& AttentionRecorder::last(std::string_view path) const {
  for (auto record = records_.rbegin(); record != records_.rend(); ++record) {
    if (record->path == path) return record->weights;
  }
  std::vector<std::string> paths;
  for (const Record& record : records_) {
    if (std::ranges::find(paths, record.path) == paths.end()) paths.push_back(record.path);
  }
  fail<ValueError>("attention_recorder", "no weights of '", path, "', only of ", paths);
}

}  // namespace xgrad::inline XGRAD_ABI::nn
