// Attention: the formula in operations, and the operation that computes it by a kernel (kernels/attention.cpp). The
// mask is in attention_mask.cpp.
#include "attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "../core/record_fused.h"
#include "arithmetic.h"
#include "broadcast.h"
#include "dropout.h"
#include "kernels/attention.h"
#include "matmul.h"
#include "shape.h"
#include "slice.h"
#include "softmax.h"

namespace xgrad {
namespace {

// ---- The formula ----------------------------------------------------------------------------------------------------

Tensor inner_products(const Tensor& a, const Tensor& b);

// a b or a^T b, for weights or their gradients a: what a 0 stands for takes no part, NaN and infinities included, here
// and in all gradients.
Tensor weighted_product(const Tensor& a, const Tensor& b, LeftFactor left) {
  const bool transpose_a = left == LeftFactor::transposed;
  Array y = std::ranges::all_of(b.value(), [](Real v) { return std::isfinite(v); })
                ? matmul(a.detach(), b.detach(), {.transpose_a = transpose_a}).value()
                : careful_products(a.value(), b.value(), left);
  return record("matmul", std::move(y),
                wrt(a, [b = kept(b), transpose_a](
                           const Tensor& gy) { return transpose_a ? inner_products(b, gy) : inner_products(gy, b); }),
                wrt(b, [a = kept(a), transpose_a](const Tensor& gy) {
                  return weighted_product(a, gy, transpose_a ? LeftFactor::as_it_is : LeftFactor::transposed);
                }));
}

// a b^T
Tensor inner_products(const Tensor& a, const Tensor& b) {
  return record("matmul", matmul(a.detach(), b.detach(), {.transpose_b = true}).value(),
                wrt(a, [b = kept(b)](const Tensor& gy) { return weighted_product(gy, b, LeftFactor::as_it_is); }),
                wrt(b, [a = kept(a)](const Tensor& gy) { return weighted_product(gy, a, LeftFactor::transposed); }));
}

// How heads lie in an operand: in columns of (B, T, H d), or one behind the other, (..., T, d).
enum class Heads { side_by_side, stacked };

// What does not change between the forms and passes of one call.
struct Call {
  AttentionSizes sizes;
  AttentionMask mask;
  KeyRanges keys;  // which the mask leaves
  WeightDropout dropout;
  Heads heads;
  Shape y_shape;

  // An operand as (B, H, rows, columns).
  Tensor by_heads(const Tensor& x, std::int64_t rows, std::int64_t columns) const {
    if (heads == Heads::stacked) return reshape(x, {sizes.B, sizes.H, rows, columns});
    return transpose(reshape(x, {sizes.B, rows, sizes.H, columns}), 1, 2);
  }

  // softmax(scale q k' + bias), (B, H, T, S)
  Tensor weights(const Tensor& q, const Tensor& k, const Tensor& bias) const {
    Tensor scores = inner_products(by_heads(q, sizes.T, sizes.d) * sizes.scale, by_heads(k, sizes.S, sizes.d));
    if (bias.defined()) scores = scores + bias;
    return masked_softmax(scores, detail::expanded(keys, sizes.scores()).value_or(Mask(Shape{}, false)));
  }

  // dropout(weights) v
  Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) const {
    Tensor chosen = weights(q, k, bias);
    if (dropout.on()) chosen = xgrad::dropout(chosen, dropout.p, dropout.key);
    const Tensor y = weighted_sum(chosen, by_heads(v, sizes.S, sizes.e));  // (B, H, T, e)
    return reshape(heads == Heads::side_by_side ? transpose(y, 1, 2) : y, y_shape);
  }
};

// ---- The operation --------------------------------------------------------------------------------------------------

// On `inputs`: q, k, v and perhaps bias, or qkv and perhaps bias. `operands` says where q, k and v begin in arrays like
// these, `composed` is the formula.
template <std::size_t N, class Pointers, class Composed>
Tensor attend(const Call& call, const std::array<Tensor, N>& inputs, const Pointers& operands,
              const Composed& composed) {
  const auto read = [operands](const std::array<Tensor, N>& xs) {
    std::array<const Real*, N> data{};
    for (std::size_t i = 0; i < N; ++i) data[i] = xs[i].value().data();
    return operands(data);
  };
  const bool keep = recording() && std::ranges::any_of(inputs, &Tensor::requires_grad);
  Array y(call.y_shape);
  KeptAttention kept;
  if (y.size() > 0) {
    if (keep) kept = KeptAttention(call.sizes);
    attention_forward(call.sizes, read(inputs), call.keys, call.dropout, y.mutable_data(), keep ? &kept : nullptr);
  }
  return record_fused(
      "attention", std::move(y), inputs,
      [call, operands, read, kept](const std::array<Tensor, N>& in, const Tensor& gy, Wanted wanted) {
        const bool empty = gy.size() == 0, has_bias = call.keys.bias != nullptr;
        std::array<Tensor, N> gradients;
        std::array<Real*, N> to{};
        for (std::size_t i = 0; i < N - (has_bias ? 1 : 0); ++i) {
          Array gradient = empty ? Array(in[i].shape(), Real(0)) : Array(in[i].shape());
          to[i] = gradient.mutable_data();
          gradients[i] = Tensor(std::move(gradient));
        }
        const bool wants_bias = has_bias && wanted[N - 1];
        Array scores = wants_bias ? Array(call.sizes.scores(), Real(0)) : Array();
        if (!empty) {
          attention_backward(call.sizes, gy.value().data(), read(in), operands(to), kept, call.keys, call.dropout,
                             wants_bias && scores.size() > 0 ? scores.mutable_data() : nullptr);
        }
        if (wants_bias) gradients[N - 1] = sum_to(Tensor(std::move(scores)), in[N - 1].shape());
        return gradients;
      },
      composed);
}

Tensor attend(const Call& call, const Tensor& q, const Tensor& k, const Tensor& v) {
  const auto operands = []<class Number, std::size_t N>(const std::array<Number*, N>& data) {
    return AttentionOperands<Number>{data[0], data[1], data[2]};
  };
  const Tensor& bias = call.mask.bias;
  if (bias.defined()) {
    return attend(call, std::array{q, k, v, bias}, operands,
                  [call](const auto&... own) { return call.composed(own...); });
  }
  return attend(call, std::array{q, k, v}, operands,
                [call](const auto&... own) { return call.composed(own..., Tensor()); });
}

// Queries, keys and values side by side in the rows of qkv.
Tensor attend_packed(const Call& call, const Tensor& qkv) {
  const std::int64_t width = qkv.dim(2) / 3;
  const auto operands = [width]<class Number, std::size_t N>(const std::array<Number*, N>& data) {
    return AttentionOperands<Number>{data[0], data[0] + width, data[0] + 2 * width};
  };
  const auto composed = [call, width](const Tensor& x, const Tensor& bias) {
    return call.composed(narrow(x, 2, 0, width), narrow(x, 2, width, width), narrow(x, 2, 2 * width, width), bias);
  };
  const Tensor& bias = call.mask.bias;
  if (bias.defined()) return attend(call, std::array{qkv, bias}, operands, composed);
  return attend(call, std::array{qkv}, operands, [composed](const Tensor& x) { return composed(x, Tensor()); });
}

// ---- What a call is given -------------------------------------------------------------------------------------------

WeightDropout checked_dropout(const char* op, const AttentionOptions& options) {
  if (!(options.dropout >= 0 && options.dropout <= 1)) {
    fail<ValueError>(op, "dropout ", options.dropout, " is not in [0, 1]");
  }
  if (options.dropout == 0) return {};
  return {options.dropout, options.key ? *options.key : next_random_key()};
}

Call call_of(const char* op, const AttentionOptions& options, Heads heads, const Shape& y_shape,
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
  if (!std::isfinite(*options.scale)) fail<ValueError>(op, "scale ", *options.scale, " is not finite");
  return *options.scale;
}

Call side_by_side(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                  const AttentionOptions& options) {
  const auto refuse = [&](const char* rule) {
    fail<ShapeError>(op, rule, ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  };
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3) refuse("needs three axes (batch, positions, width)");
  if (q.dim(0) != k.dim(0) || k.dim(0) != v.dim(0)) refuse("batch sizes differ");
  if (k.dim(1) != v.dim(1)) refuse("keys and values differ in number");
  if (q.dim(2) != k.dim(2)) refuse("queries and keys differ in width");
  if (heads < 1) fail<ValueError>(op, "heads ", heads, " is not positive");
  for (const std::int64_t size : {q.dim(2), v.dim(2)}) {
    if (size % heads != 0) fail<ValueError>(op, "width ", size, " is not divisible by ", heads, " heads");
  }
  const std::int64_t B = q.dim(0), T = q.dim(1), S = k.dim(1), C = q.dim(2), E = v.dim(2);
  const std::int64_t d = C / heads, e = E / heads;
  return call_of(op, options, Heads::side_by_side, {B, T, E},
                 {.B = B,
                  .H = heads,
                  .T = T,
                  .S = S,
                  .d = d,
                  .e = e,
                  .q = {T * C, d, C},
                  .k = {S * C, d, C},
                  .v = {S * E, e, E},
                  .y = {T * E, e, E},
                  .scale = scale_for(op, options, d)});
}

Call stacked(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
  const auto refuse = [&](const char* rule) {
    fail<ShapeError>(op, rule, ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  };
  const int rank = q.rank();
  if (rank < 2 || rank > 4 || k.rank() != rank || v.rank() != rank) refuse("needs two to four axes, as many in each");
  for (int i = 0; i < rank - 2; ++i) {
    if (q.shape()[i] != k.shape()[i] || k.shape()[i] != v.shape()[i]) refuse("leading axes differ");
  }
  if (k.dim(-2) != v.dim(-2)) refuse("keys and values differ in number");
  if (q.dim(-1) != k.dim(-1)) refuse("queries and keys differ in width");
  const std::int64_t B = rank >= 3 ? q.dim(0) : 1, H = rank == 4 ? q.dim(1) : 1;
  const std::int64_t T = q.dim(-2), S = k.dim(-2), d = q.dim(-1), e = v.dim(-1);
  Shape y_shape = q.shape();
  y_shape[rank - 1] = e;
  return call_of(op, options, Heads::stacked, y_shape,
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

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  return attend(stacked("scaled_dot_product_attention", q, k, v, options), q, k, v);
}

Tensor multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                            const AttentionOptions& options) {
  return attend(side_by_side("multi_head_attention", q, k, v, heads, options), q, k, v);
}

Tensor multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  constexpr const char* op = "multi_head_attention";
  if (qkv.rank() != 3) fail<ShapeError>(op, "needs three axes (batch, positions, width), got ", qkv.shape());
  if (heads < 1) fail<ValueError>(op, "heads ", heads, " is not positive");
  if (qkv.dim(2) % 3 != 0 || qkv.dim(2) / 3 % heads != 0) {
    fail<ValueError>(op, "width ", qkv.dim(2), " is not divisible by queries, keys and values of ", heads, " heads");
  }
  const std::int64_t B = qkv.dim(0), T = qkv.dim(1), C = qkv.dim(2) / 3, d = C / heads;
  const HeadLayout part{T * 3 * C, d, 3 * C};
  return attend_packed(call_of(op, options, Heads::side_by_side, {B, T, C},
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
                                .scale = scale_for(op, options, d)}),
                       qkv);
}

Tensor attention_weights(const Tensor& q, const Tensor& k, std::int64_t heads, const AttentionOptions& options) {
  AttentionOptions whole = options;
  whole.dropout = 0;
  return side_by_side("attention_weights", q, k, k, heads, whole).weights(q, k, options.mask.bias);
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
