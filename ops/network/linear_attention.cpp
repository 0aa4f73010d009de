// Linear attention, composed of operations: with all weights, and without any.
#include "linear_attention.h"

#include <algorithm>

#include "../elementwise/fused.h"
#include "../indexing/index.h"
#include "../products/matmul.h"
#include "../record_fused.h"
#include "../reduce/scan.h"
#include "../shape/join.h"
#include "../shape/shape.h"
#include "../shape/slice.h"
#include "attention_mask.h"

namespace xgrad {
namespace {

constexpr const char* op = "linear_attention";

void check(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads, bool causal);

// Queries and keys as features phi(q), phi(k) (B, H, T, d), values followed by a one (B, H, S, e + 1), so that the sum
// of the weights is computed with the weighted sum.
struct Features {
  Tensor q, k, v;

  Features(const Tensor& queries, const Tensor& keys, const Tensor& values, std::int64_t heads,
           const std::optional<Index>& lengths = {});
};

// Sums (B, H, T, e + 1) -> means (B, T, H e).
Tensor quotient(const Tensor& sums);

}  // namespace

Tensor plain::linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                               const LinearAttentionFuncOptions& options) {
  check(q, k, v, heads, options.causal);
  const Features x(q, k, v, heads, options.lengths);
  const Tensor weights = matmul(x.q, x.k, {.transpose_b = true});  // (B, H, T, S)
  return quotient(matmul(options.causal ? tril(weights) : weights, x.v));
}

namespace {

// The positions of a piece are multiplied one by one, earlier pieces by their sums: the cost per position is least when
// a piece is about as long as a head is wide.
constexpr std::int64_t piece = 64;

void check(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads, bool causal) {
  const auto refuse = [&](const char* rule) {
    fail<ShapeError>(op, rule, ": q ", q.shape(), ", k ", k.shape(), ", v ", v.shape());
  };
  if (q.rank() != 3 || k.rank() != 3 || v.rank() != 3) refuse("needs three axes (batch, positions, width)");
  if (q.dim(0) != k.dim(0) || k.dim(0) != v.dim(0)) refuse("batch sizes differ");
  if (k.dim(1) != v.dim(1)) refuse("keys and values differ in number");
  if (q.dim(2) != k.dim(2)) refuse("queries and keys differ in width");
  if (causal && q.dim(1) != k.dim(1)) refuse("causal queries and keys differ in number");
  if (heads < 1) fail<ValueError>(op, "heads ", heads, " is not positive");
  for (const std::int64_t size : {q.dim(2), v.dim(2)}) {
    if (size % heads != 0) fail<ValueError>(op, "width ", size, " is not divisible by ", heads, " heads");
  }
}

// (B, T, H d) -> (B, H, T, d).
Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return transpose(reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}), 1, 2);
}

// elu(x) + 1, but not as a sum, which would be 0 as soon as e^x is below the digits of 1: all keys that a query sees
// would then have weight 0.
Tensor phi(const Tensor& x) {
  return elementwise(
      "elu_plus_one", x, [](auto v) { return where(v > 0, v + 1, exp(detail::below_zero(v))); },
      [](auto v, auto) { return where(v > 0, 1, exp(detail::below_zero(v))); });
}

Features::Features(const Tensor& queries, const Tensor& keys, const Tensor& values, std::int64_t heads,
                   const std::optional<Index>& lengths)
    : q(phi(split_heads(queries, heads))),
      k(phi(split_heads(keys, heads))),
      v(pad(split_heads(values, heads), {{0, 0}, {0, 0}, {0, 0}, {0, 1}}, 1)) {
  if (!lengths) return;
  const std::int64_t B = k.dim(0), S = k.dim(2);
  const Mask padding = masked_keys({.lengths = lengths}, {B, 1, S}, op).reshaped({B, 1, S, 1});
  k = masked_fill(k, padding, 0);
  v = masked_fill(v, padding, 0);
}

Tensor quotient(const Tensor& sums) {
  const std::int64_t e = sums.dim(-1) - 1;
  const Tensor total = sums[{ellipsis, slice(e, none)}];
  const Tensor y = sums[{ellipsis, slice(0, e)}] / where(total == 0, 1, total);  // (B, H, T, e)
  return reshape(transpose(y, 1, 2), {y.dim(0), y.dim(2), y.dim(1) * e});
}

// x (B, H, T, d) with zeros at its end as (B, H, pieces, length, d).
Tensor in_pieces(const Tensor& x, std::int64_t pieces, std::int64_t length) {
  const Tensor padded = pad(x, {{0, 0}, {0, 0}, {0, pieces * length - x.dim(2)}, {0, 0}});
  return reshape(padded, {x.dim(0), x.dim(1), pieces, length, x.dim(3)});
}

// The sums that each causal query sees, (B, H, T, e + 1), including those of `past` (B, H, d, e + 1), which is updated.
Tensor causal_sums(const Features& x, Tensor& past) {
  const std::int64_t T = x.q.dim(2), length = std::clamp<std::int64_t>(T, 1, piece);
  const std::int64_t pieces = (T + length - 1) / length;
  const Tensor q = in_pieces(x.q, pieces, length);
  const Tensor k = in_pieces(x.k, pieces, length);
  const Tensor v = in_pieces(x.v, pieces, length);
  const Tensor own = matmul(k, v, {.transpose_a = true});                 // (B, H, pieces, d, e + 1)
  const Tensor before = cumsum(concat({unsqueeze(past, 2), own}, 2), 2);  // one more than pieces
  const Tensor within = matmul(tril(matmul(q, k, {.transpose_b = true})), v);
  const Tensor sums = within + matmul(q, before[{_, _, slice(0, pieces)}]);  // (B, H, pieces, length, e + 1)
  past = before[{_, _, pieces}];
  return reshape(sums, {q.dim(0), q.dim(1), pieces * length, v.dim(-1)})[{_, _, slice(0, T)}];
}

Tensor no_sums(const Features& x) { return Array({x.k.dim(0), x.k.dim(1), x.k.dim(3), x.v.dim(3)}, Real(0)); }

}  // namespace

Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        const LinearAttentionFuncOptions& options) {
  if (runs_plain()) return run_composed("linear_attention", plain::linear_attention, q, k, v, heads, options);
  check(q, k, v, heads, options.causal);
  const Features x(q, k, v, heads, options.lengths);
  if (options.causal) {
    Tensor past = no_sums(x);
    return quotient(causal_sums(x, past));
  }
  return quotient(matmul(x.q, matmul(x.k, x.v, {.transpose_a = true})));
}

void LinearAttentionState::select(const Index& rows) {
  if (sums.defined()) sums = index_select(sums, 0, rows);
}

Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        LinearAttentionState& past) {
  check(q, k, v, heads, true);
  const Features x(q, k, v, heads);
  Tensor sums = past.sums.defined() ? past.sums : no_sums(x);
  if (sums.shape() != no_sums(x).shape()) {
    fail<ShapeError>(op, "a state of shape ", sums.shape(), ", needs ", no_sums(x).shape());
  }
  Tensor y = quotient(causal_sums(x, sums));
  past.sums = sums;
  return y;
}

}  // namespace xgrad
