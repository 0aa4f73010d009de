// Attention: the formula in operations, and the operation that computes it by a kernel
// (ops/kernels/attention/attention.cpp). The mask is in attention_mask.cpp.
#include "attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "../../core/base/error.h"
#include "../../core/base/formula.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../indexing/axis.h"
#include "../indexing/index.h"
#include "../kernels/attention/attention.h"
#include "../kernels/network/dropout.h"
#include "../products/matmul.h"
#include "../record_fused.h"
#include "../shape/broadcast.h"
#include "../shape/shape.h"
#include "../shape/slice.h"
#include "dropout.h"
#include "softmax.h"

namespace xgrad {

XGRAD_FORMULA attention_formula{
    "attention", "y = w v with w = softmax(scale q k^T + mask)",
    "dL/dq = scale u k; dL/dk = scale u^T q; dL/dv = w^T gy with u_ij = w_ij (gy_i v_j^T - gy_i y_i^T)"};
Tensor plain::attention(const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Mask>& masked) {
  const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(static_cast<Real>(q.dim(-1)));
  const Tensor weights = xgrad::softmax(masked ? masked_fill(scores, *masked, -infinity) : scores);
  return matmul(weights, v);
}

namespace {

// ---- The same with everything that a call may ask for ---------------------------------------------------------------

Tensor inner_products(const Tensor& a, const Tensor& b);

bool all_finite(const Tensor& x) {
  return std::ranges::all_of(x.value(), [](Real v) { return std::isfinite(v); });
}

// The gradient of weights; 0 for a weight of 0 whose gradient is NaN or infinite.
Tensor gradient_of_weights(const Tensor& weights, const Tensor& gradient) {
  return all_finite(gradient) ? gradient : where(weights == 0 && !isfinite(gradient), 0, gradient);
}

// a b or a^T b, for weights or their gradients a: an entry that is multiplied by 0 takes no part, NaN and infinities
// included, here and in all gradients.
Tensor weighted_product(const Tensor& a, const Tensor& b, LeftFactor left) {
  const bool transpose_a = left == LeftFactor::transposed;
  Array y = all_finite(b) ? matmul(a.detach(), b.detach(), {.transpose_a = transpose_a}).value()
                          : products_skipping_zeros(a.value(), b.value(), left);
  const auto count = multiply_adds(y.size(), a.dim(transpose_a ? -2 : -1));
  return record("matmul", std::move(y),
                wrt(a,
                    [a = saved(a), b = saved(b), transpose_a](const Tensor& gy) {
                      return gradient_of_weights(a, transpose_a ? inner_products(b, gy) : inner_products(gy, b));
                    }),
                wrt(b,
                    [a = saved(a), transpose_a](const Tensor& gy) {
                      return weighted_product(a, gy, transpose_a ? LeftFactor::as_it_is : LeftFactor::transposed);
                    }),
                count);
}

// a b^T
Tensor inner_products(const Tensor& a, const Tensor& b) {
  Array y = matmul(a.detach(), b.detach(), {.transpose_b = true}).value();
  const auto count = multiply_adds(y.size(), a.dim(-1));
  return record("matmul", std::move(y),
                wrt(a, [b = saved(b)](const Tensor& gy) { return weighted_product(gy, b, LeftFactor::as_it_is); }),
                wrt(b, [a = saved(a)](const Tensor& gy) { return weighted_product(gy, a, LeftFactor::transposed); }),
                count);
}

// How heads lie in an operand: in columns of (B, T, H d), or one after the other, (..., T, d).
enum class Heads { side_by_side, stacked };

// The parameters shared by the forms and passes of one call.
struct AttentionCall {
  AttentionSizes sizes;
  AttentionMask mask;
  KeyRanges keys;  // that the mask leaves
  WeightDropout dropout;
  Heads heads;
  Shape y_shape;

  // An operand as (B, count, rows, columns).
  Tensor by_heads(const Tensor& x, std::int64_t count, std::int64_t rows, std::int64_t columns) const {
    if (heads == Heads::stacked) return in_shape(x, {sizes.B, count, rows, columns});
    return transpose(reshape(x, {sizes.B, rows, count, columns}), 1, 2);
  }
  // Keys or values as (B, H, S, columns): each head as often as there are heads of queries in its group.
  Tensor by_groups(const Tensor& x, std::int64_t columns) const {
    const std::int64_t count = sizes.H / sizes.group;
    Tensor own = by_heads(x, count, sizes.S, columns);
    if (sizes.group == 1) return own;
    return flatten(broadcast_to(unsqueeze(own, 2), {sizes.B, count, sizes.group, sizes.S, columns}), 1, 2);
  }

  // scale q k' + bias, (B, H, T, S)
  Tensor scores(const Tensor& q, const Tensor& k, const Tensor& bias) const {
    const Tensor own = inner_products(by_heads(q, sizes.H, sizes.T, sizes.d), by_groups(k, sizes.d)) * sizes.scale;
    return bias.defined() ? own + bias : own;
  }
  // true where a key is masked; nothing if none is
  std::optional<Mask> masked() const { return detail::expanded(keys, sizes.scores()); }

  // dropout(softmax(scores)) v
  Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) const {
    Tensor scores = this->scores(q, k, bias);
    if (const auto hidden = masked()) scores = masked_fill(scores, *hidden, -infinity);
    Tensor weights = softmax(scores);
    if (dropout.on()) weights = xgrad::dropout(weights, dropout.p, dropout.key);
    const Tensor y = weighted_sum(weights, by_groups(v, sizes.e));  // (B, H, T, e)
    return in_shape(heads == Heads::side_by_side ? transpose(y, 1, 2) : y, y_shape);
  }
  // The same of queries, keys and values side by side in the rows of qkv.
  Tensor composed(const Tensor& qkv, const Tensor& bias) const {
    const std::int64_t q = sizes.H * sizes.d, k = q / sizes.group;  // the widths of queries and of keys
    return composed(narrow(qkv, 2, 0, q), narrow(qkv, 2, q, k), narrow(qkv, 2, q + k, k), bias);
  }
};

// The checked calls of the operations.
AttentionCall stacked(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                      const AttentionOptions& options);
AttentionCall side_by_side(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                           const AttentionOptions& options);
AttentionCall packed(const char* op, const Tensor& qkv, std::int64_t heads, const AttentionOptions& options);

constexpr const char *one_by_one = "scaled_dot_product_attention", *multi_head = "multi_head_attention";

}  // namespace

Tensor plain::scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                           const AttentionOptions& options) {
  return stacked(one_by_one, q, k, v, options).composed(q, k, v, options.mask.bias);
}
Tensor plain::multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                                   const AttentionOptions& options) {
  return side_by_side(multi_head, q, k, v, heads, options).composed(q, k, v, options.mask.bias);
}
Tensor plain::multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  return packed(multi_head, qkv, heads, options).composed(qkv, options.mask.bias);
}

namespace {

// ---- The operation --------------------------------------------------------------------------------------------------

// The inputs of the operation: q, k and v, or qkv, which has them side by side in its rows; then perhaps the bias.
template <std::size_t N>
using AttentionInputs = std::array<Tensor, N>;
template <std::size_t N>
inline constexpr bool has_bias = N % 2 == 0;

// Where queries, keys and values begin in the memory of the inputs, or of their gradients.
template <class Number, std::size_t N>
AttentionOperands<Number> operands_of(const AttentionSizes& sizes, const std::array<Number*, N>& data) {
  if constexpr (N >= 3) {
    return {data[0], data[1], data[2]};
  } else {
    const std::int64_t q = sizes.H * sizes.d, k = q / sizes.group;
    return {data[0], data[0] + q, data[0] + q + k};
  }
}
template <std::size_t N>
AttentionOperands<const Real> operands_of(const AttentionSizes& sizes, const AttentionInputs<N>& inputs) {
  std::array<const Real*, N> data{};
  for (std::size_t i = 0; i < N; ++i) data[i] = inputs[i].value().data();
  return operands_of(sizes, data);
}

template <std::size_t N>
AttentionInputs<N> attention_gradients(const AttentionCall& call, const SavedAttention& saved,
                                       const AttentionInputs<N>& in, const Tensor& gy, Wanted wanted) {
  const bool empty = gy.size() == 0;
  AttentionInputs<N> gradients;
  std::array<Real*, N> to{};
  for (std::size_t i = 0; i < (has_bias<N> ? N - 1 : N); ++i) {
    Array gradient = empty ? Array(in[i].shape(), Real(0)) : Array(in[i].shape());
    to[i] = gradient.mutable_data();
    gradients[i] = Tensor(std::move(gradient));
  }
  const bool wants_bias = has_bias<N> && wanted[N - 1];
  Array scores = wants_bias ? Array(call.sizes.scores(), Real(0)) : Array();
  if (!empty) {
    attention_backward(call.sizes, gy.value().data(), operands_of(call.sizes, in), operands_of(call.sizes, to), saved,
                       call.keys, call.dropout, wants_bias && scores.size() > 0 ? scores.mutable_data() : nullptr);
  }
  if (wants_bias) gradients[N - 1] = sum_to(Tensor(std::move(scores)), in[N - 1].shape());
  return gradients;
}

template <std::size_t N>
Tensor attend(const AttentionCall& call, const AttentionInputs<N>& inputs) {
  const auto composed = [call](const auto&... own) {
    if constexpr (has_bias<N>) {
      return call.composed(own...);
    } else {
      return call.composed(own..., Tensor());
    }
  };
  const auto kernel = [&] {
    const bool keep = recording() && std::ranges::any_of(inputs, &Tensor::requires_grad);
    Array y(call.y_shape);
    SavedAttention saved;
    if (y.size() > 0) {
      if (keep) saved = SavedAttention(call.sizes);
      attention_forward(call.sizes, operands_of(call.sizes, inputs), call.keys, call.dropout, y.mutable_data(),
                        keep ? &saved : nullptr);
    }
    return std::pair(std::move(y), [call, saved](const AttentionInputs<N>& in, const Tensor& gy, Wanted wanted) {
      return attention_gradients(call, saved, in, gy, wanted);
    });
  };
  return record_fused(
      "attention", inputs, composed, kernel, attribute("heads", call.sizes.H),
      attribute("queries_per_key", unless(1, call.sizes.group)), attribute("causal", unless(false, call.mask.causal)),
      attribute("before", call.mask.band ? std::optional(call.mask.band->before) : std::nullopt),
      attribute("after", call.mask.band ? std::optional(call.mask.band->after) : std::nullopt),
      attribute("lengths", call.mask.lengths), attribute("masked", call.mask.masked),
      attribute("dropout", unless(0, call.dropout.p)),
      attribute("key", call.dropout.on() ? std::optional(seed_and_draw(call.dropout.key)) : std::nullopt),
      attribute("scale", call.sizes.scale),
      multiply_adds(call.sizes.B, call.sizes.H, call.sizes.T, call.sizes.S, call.sizes.d + call.sizes.e));
}

// The same of these inputs and, if the mask has one, its bias.
template <class... Inputs>
Tensor attend_with_bias(const AttentionCall& call, const Inputs&... inputs) {
  const Tensor& bias = call.mask.bias;
  return bias.defined() ? attend(call, std::array{inputs..., bias}) : attend(call, std::array{inputs...});
}

// ---- Arguments of a call --------------------------------------------------------------------------------------------

WeightDropout checked_dropout(const char* op, const AttentionOptions& options) {
  if (!(options.dropout >= 0 && options.dropout <= 1)) {
    fail<ValueError>(op, "dropout ", options.dropout, " is not in [0, 1]");
  }
  if (options.dropout == 0) return {};
  return {static_cast<Real>(options.dropout), options.key ? *options.key : next_random_key()};
}

AttentionCall call_of(const char* op, const AttentionOptions& options, Heads heads, const Shape& y_shape,
                      const AttentionSizes& sizes) {
  return {.sizes = sizes,
          .mask = options.mask,
          .keys = detail::check_mask(op, options.mask, sizes.scores()),
          .dropout = checked_dropout(op, options),
          .heads = heads,
          .y_shape = y_shape};
}

Real scale_for(const char* op, const AttentionOptions& options, std::int64_t d) {
  if (!options.scale) return 1 / std::sqrt(static_cast<Real>(std::max<std::int64_t>(d, 1)));
  const Real scale = static_cast<Real>(*options.scale);
  if (!std::isfinite(scale)) fail<ValueError>(op, "scale ", scale, " is not finite");
  return scale;
}

// How many heads have keys and values.
std::int64_t kv_heads_of(const char* op, std::int64_t heads, const AttentionOptions& options) {
  if (heads < 1) fail<ValueError>(op, "heads ", heads, " is not positive");
  const std::int64_t count = options.kv_heads.value_or(heads);
  if (count < 1 || heads % count != 0) fail<ValueError>(op, heads, " heads do not divide by ", count, " kv_heads");
  return count;
}

// The end of an error of H heads of queries, for keys that look like those of fewer heads.
std::string fewer_heads_hint(std::int64_t H, std::int64_t of_keys) {
  if (of_keys < 1 || of_keys >= H || H % of_keys != 0) return {};
  return str("; for ", of_keys, " heads of keys and values: multi_head_attention(q, k, v, ", H,
             ", {.kv_heads = ", of_keys, "})");
}

AttentionCall side_by_side(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                           const AttentionOptions& options) {
  const auto refuse = [&](const char* rule, const std::string& hint = {}) {
    fail<ShapeError>(op, rule, ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape(), hint);
  };
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3) refuse("needs three axes (batch, positions, width)");
  if (q.dim(0) != k.dim(0) || k.dim(0) != v.dim(0)) refuse("batch sizes differ");
  if (k.dim(1) != v.dim(1)) refuse("keys and values differ in number");
  const std::int64_t kv_heads = kv_heads_of(op, heads, options);
  if (!options.kv_heads && q.dim(2) != k.dim(2)) {
    const std::int64_t of_keys = k.dim(2) * heads / std::max<std::int64_t>(q.dim(2), 1);
    const bool whole = of_keys * q.dim(2) == k.dim(2) * heads;
    refuse("queries and keys differ in width", whole ? fewer_heads_hint(heads, of_keys) : "");
  }
  const auto columns = [&](const Tensor& x, std::int64_t count) {
    if (x.dim(2) % count != 0) fail<ValueError>(op, "width ", x.dim(2), " is not divisible by ", count, " heads");
    return x.dim(2) / count;
  };
  const std::int64_t B = q.dim(0), T = q.dim(1), S = k.dim(1), C = q.dim(2), K = k.dim(2), E = v.dim(2);
  const std::int64_t d = columns(q, heads), e = columns(v, kv_heads), out = checked_multiply(op, heads, e);
  if (columns(k, kv_heads) != d) refuse("the heads of queries and keys differ in width");
  return call_of(op, options, Heads::side_by_side, {B, T, out},
                 {.B = B,
                  .H = heads,
                  .T = T,
                  .S = S,
                  .d = d,
                  .e = e,
                  .q = {T * C, d, C},
                  .k = {S * K, d, K},
                  .v = {S * E, e, E},
                  .y = {T * out, e, out},
                  .scale = scale_for(op, options, d),
                  .group = heads / kv_heads});
}

AttentionCall stacked(const char* op, const Tensor& q, const Tensor& k, const Tensor& v,
                      const AttentionOptions& options) {
  const auto refuse = [&](const char* rule, const std::string& hint = {}) {
    fail<ShapeError>(op, rule, ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape(), hint);
  };
  if (options.kv_heads) fail<ValueError>(op, "kv_heads is for multi_head_attention");
  const int rank = q.rank();
  if (rank < 2 || rank > 4 || k.rank() != rank || v.rank() != rank) refuse("needs two to four axes, as many in each");
  for (int i = 0; i < rank - 2; ++i) {
    if (q.shape()[i] == k.shape()[i] && k.shape()[i] == v.shape()[i]) continue;
    refuse("leading axes differ", i == 1 ? fewer_heads_hint(q.dim(1), k.dim(1)) : "");
  }
  if (k.dim(-2) != v.dim(-2)) refuse("keys and values differ in number");
  if (q.dim(-1) != k.dim(-1)) refuse("queries and keys differ in width");
  const std::int64_t B = rank >= 3 ? q.dim(0) : 1, H = rank == 4 ? q.dim(1) : 1;
  const std::int64_t T = q.dim(-2), S = k.dim(-2), d = q.dim(-1), e = v.dim(-1);
  return call_of(op, options, Heads::stacked, joined(leading(q.shape(), 1), {e}),
                 {.B = B,
                  .H = H,
                  .T = T,
                  .S = S,
                  .d = d,
                  .e = e,
                  .q = {H * T * d, T * d, d},
                  .k = {H * S * d, S * d, d},
                  .v = {H * S * e, S * e, e},
                  .y = {H * T * e, T * e, e},
                  .scale = scale_for(op, options, d)});
}

AttentionCall packed(const char* op, const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  if (qkv.rank() != 3) fail<ShapeError>(op, "needs three axes (batch, positions, width), got ", qkv.shape());
  const std::int64_t kv_heads = kv_heads_of(op, heads, options), width = qkv.dim(2);
  const std::int64_t parts = heads > width ? 1 : heads + 2 * kv_heads;
  if ((heads > width && width > 0) || width % parts != 0) {
    fail<ValueError>(op, "width ", width, " is not divisible by queries, keys and values of ", heads, " heads",
                     kv_heads == heads ? "" : str(", ", kv_heads, " of keys"));
  }
  const std::int64_t B = qkv.dim(0), T = qkv.dim(1), d = width / parts, C = heads * d;
  const HeadLayout part{T * width, d, width};
  return call_of(op, options, Heads::side_by_side, {B, T, C},
                 {.B = B,
                  .H = heads,
                  .T = T,
                  .S = T,
                  .d = d,
                  .e = d,
                  .q = part,
                  .k = part,
                  .v = part,
                  .y = {T * C, d, C},
                  .scale = scale_for(op, options, d),
                  .group = heads / kv_heads});
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  return attend_with_bias(stacked(one_by_one, q, k, v, options), q, k, v);
}

Tensor multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                            const AttentionOptions& options) {
  return attend_with_bias(side_by_side(multi_head, q, k, v, heads, options), q, k, v);
}

Tensor multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  return attend_with_bias(packed(multi_head, qkv, heads, options), qkv);
}

Tensor attention_weights(const Tensor& q, const Tensor& k, std::int64_t heads, const AttentionOptions& options) {
  AttentionOptions no_dropout = options;
  no_dropout.dropout = 0;
  const AttentionCall call = side_by_side("attention_weights", q, k, k, heads, no_dropout);
  return masked_softmax(call.scores(q, k, options.mask.bias), call.masked().value_or(Mask(Shape{}, false)));
}

Tensor weighted_sum(const Tensor& weights, const Tensor& x) {
  const auto fits = [&] {
    if (weights.rank() < 2 || weights.rank() != x.rank() || weights.dim(-1) != x.dim(-2)) return false;
    return std::equal(weights.shape().begin(), weights.shape().end() - 2, x.shape().begin());
  };
  if (!fits()) fail<ShapeError>("weighted_sum", "weights ", weights.shape(), " do not fit ", x.shape());
  return weighted_product(weights, x, LeftFactor::as_it_is);
}

}  // namespace xgrad
