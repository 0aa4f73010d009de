// Attention: a kernel over batch and heads that reads the heads in place, and the composed form that it is held
// against.
//
// Matrices are small here (a head has 8 to 64 columns), so that the products are done by a register-blocked loop of our
// own on padded copies of one head, instead of many calls of a BLAS.
#include <xgrad/ops/attention.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <xgrad/core/grad.h>
#include <xgrad/core/parallel.h>
#include <xgrad/core/record.h>
#include <xgrad/ops/arithmetic.h>
#include <xgrad/ops/elementwise.h>
#include <xgrad/ops/matmul.h>
#include <xgrad/ops/normalize.h>
#include <xgrad/ops/reduce.h>
#include <xgrad/ops/rows.h>
#include <xgrad/ops/shape.h>

namespace xgrad::inline XGRAD_ABI {
namespace {

constexpr std::int64_t width = pack_width;
constexpr Real infinity = std::numeric_limits<Real>::infinity();

// Sizes, and how many elements lie between batches, heads and rows of a (B, T, H, d)- or (B, H, T, d)-like operand.
struct Layout {
  std::int64_t batch_step, head_step, row_step;

  std::int64_t at(std::int64_t b, std::int64_t h) const { return b * batch_step + h * head_step; }
};

struct Problem {
  std::int64_t B, H, T, S, d, e;
  Layout q, k, v, y;
  Shape y_shape;
  Real scale;

  Shape weights_shape() const { return {B, H, T, S}; }
};

// The checked mask of a problem.
class Visible {
 public:
  Visible(const char* op, const AttentionMask& mask, const Problem& p) : mask_(mask), T_(p.T), S_(p.S) {
    const Shape scores = p.weights_shape();
    if (mask.lengths) {
      const Shape& shape = mask.lengths->shape();
      if (shape != Shape{p.B} && shape != Shape{p.B, p.T}) {
        fail<ShapeError>(op, "lengths of shape ", shape, ", expected ", Shape{p.B}, " or ", Shape{p.B, p.T});
      }
      for (const std::int64_t length : *mask.lengths) {
        if (length < 0 || length > p.S) fail<ValueError>(op, "length ", length, " is not in [0, ", p.S, "]");
      }
      per_query_ = shape.rank() == 2;
    }
    if (mask.ignore) {
      if (!broadcasts_to(mask.ignore->shape(), scores)) {
        fail<ShapeError>(op, "ignore of shape ", mask.ignore->shape(), " cannot become ", scores);
      }
      ignore_ = broadcast_strides(mask.ignore->shape(), scores);
    }
    if (mask.bias.defined()) {
      if (!broadcasts_to(mask.bias.shape(), scores)) {
        fail<ShapeError>(op, "bias of shape ", mask.bias.shape(), " cannot become ", scores);
      }
      bias_ = broadcast_strides(mask.bias.shape(), scores);
    }
  }

  // Keys from this one on are not visible to query t of batch b.
  std::int64_t limit(std::int64_t b, std::int64_t t) const {
    std::int64_t limit = S_;
    if (mask_.causal) limit = std::min(limit, t + 1);
    if (mask_.lengths) limit = std::min(limit, mask_.lengths->data()[per_query_ ? b * T_ + t : b]);
    return limit;
  }
  // Adds the bias to a row of `limit` scores and puts -inf where a key is ignored.
  void apply(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t limit, Real* scores) const {
    if (mask_.bias.defined()) {
      const Real* row = mask_.bias.value().data() + b * bias_[0] + h * bias_[1] + t * bias_[2];
      for (std::int64_t s = 0; s < limit; ++s) scores[s] += row[s * bias_[3]];
    }
    if (mask_.ignore) {
      const bool* row = mask_.ignore->data() + b * ignore_[0] + h * ignore_[1] + t * ignore_[2];
      for (std::int64_t s = 0; s < limit; ++s) scores[s] = row[s * ignore_[3]] ? -infinity : scores[s];
    }
  }
  bool causal() const { return mask_.causal; }

  // The same as one mask of (B, H, T, S) or smaller; nothing if all is visible.
  std::optional<Mask> blocked(const Problem& p) const {
    if (!mask_.causal && !mask_.lengths && !mask_.ignore) return std::nullopt;
    Mask result(p.weights_shape());
    bool* out = result.mutable_data();
    for (std::int64_t b = 0; b < p.B; ++b) {
      for (std::int64_t h = 0; h < p.H; ++h) {
        for (std::int64_t t = 0; t < p.T; ++t, out += p.S) {
          const std::int64_t end = limit(b, t);
          for (std::int64_t s = 0; s < p.S; ++s) {
            out[s] =
                s >= end || (mask_.ignore &&
                             mask_.ignore->data()[b * ignore_[0] + h * ignore_[1] + t * ignore_[2] + s * ignore_[3]]);
          }
        }
      }
    }
    return result;
  }

 private:
  AttentionMask mask_;
  std::int64_t T_, S_;
  bool per_query_ = false;
  ShortList<std::int64_t> ignore_, bias_;
};

// Which weights dropout leaves, as dropout() itself does it: a function of key and position alone.
class WeightDropout {
 public:
  WeightDropout(double p, const RandomKey& key) : p_(p), key_(key) {}

  bool on() const { return p_ > 0; }
  Tensor operator()(const Tensor& weights) const { return dropout(weights, p_, key_); }

  // What the weights of one row after the other are multiplied with: 0 or 1/(1 - p).
  class Rows {
   public:
    Rows(const WeightDropout& dropout, std::int64_t columns)
        : key_(dropout.key_),
          threshold_(dropout_threshold(dropout.p_)),
          columns_(columns),
          keep_(dropout.p_ < 1 ? static_cast<Real>(1 / (1 - dropout.p_)) : 0) {
      if (!dropout.on()) return;
      words_.resize(static_cast<std::size_t>(std::max<std::int64_t>(columns, 1024) + pack_width));
      factors_.resize(static_cast<std::size_t>(padded(columns)));
    }

    const Real* operator()(std::int64_t row) {
      const std::int64_t first = row * columns_;
      if (first < first_ || first + columns_ > end_) {  // words are made many at a time
        first_ = first;
        end_ = first + static_cast<std::int64_t>(words_.size()) - pack_width;
        random_words(key_, static_cast<std::uint64_t>(first), std::span(words_).first(words_.size() - Pack::width));
      }
      const std::uint32_t* words = words_.data() + (first - first_);
      for (std::size_t i = 0; i < factors_.size(); ++i) factors_[i] = words[i] >= threshold_ ? keep_ : 0;
      return factors_.data();
    }

   private:
    RandomKey key_;
    std::uint32_t threshold_;
    std::int64_t columns_, first_ = 0, end_ = 0;
    Real keep_;
    std::vector<std::uint32_t, PoolAllocator<std::uint32_t>> words_;
    std::vector<Real, PoolAllocator<Real>> factors_;
  };

 private:
  double p_;
  RandomKey key_;
};

// ---- Products of small matrices -----------------------------------------------------------------------------------

// Element (i, k) of the left operand is data[i row_step + k depth_step].
struct Left {
  const Real* data;
  std::int64_t row_step, depth_step;
};
// Rows are `step` apart, padded so that whole registers can be read and written.
struct Padded {
  Real* data;
  std::int64_t step;
};

template <int rows, int packs>
void product_block(const Left& a, const Padded& b, std::int64_t begin, std::int64_t end, const Padded& c) {
  Pack sum[rows][packs];
  for (std::int64_t k = begin; k < end; ++k) {
    Pack row[packs];
    for (int j = 0; j < packs; ++j) row[j] = Pack::load(b.data + k * b.step + j * width);
    for (int i = 0; i < rows; ++i) {
      const Pack factor(a.data[i * a.row_step + k * a.depth_step]);
      for (int j = 0; j < packs; ++j) sum[i][j] = multiply_add(factor, row[j], sum[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < packs; ++j) sum[i][j].store(c.data + i * c.step + j * width);
  }
}

template <int rows>
void product_rows(const Left& a, const Padded& b, std::int64_t begin, std::int64_t end, std::int64_t columns,
                  const Padded& c) {
  std::int64_t j = 0;
  for (; j + 2 * width <= columns; j += 2 * width) {
    product_block<rows, 2>(a, {b.data + j, b.step}, begin, end, {c.data + j, c.step});
  }
  if (j < columns) product_block<rows, 1>(a, {b.data + j, b.step}, begin, end, {c.data + j, c.step});
}

struct Extent {
  std::int64_t begin, end;  // of the inner index
  std::int64_t columns;     // of the result, rounded up to whole registers
};

// c = a b for `rows` rows; `extent(first, last)` says how much of the work rows first ... last - 1 need.
template <class F>
void product(std::int64_t rows, const Left& a, const Padded& b, const Padded& c, const F& extent) {
  std::int64_t i = 0;
  const auto take = [&]<int together>(std::integral_constant<int, together>) {
    for (; i + together <= rows; i += together) {
      const Extent part = extent(i, i + together);
      product_rows<together>({a.data + i * a.row_step, a.row_step, a.depth_step}, b, part.begin, part.end,
                             padded(part.columns), {c.data + i * c.step, c.step});
    }
  };
  // As many rows at once as registers hold, because a sum waits for the one before.
  take(std::integral_constant<int, 8>());
  take(std::integral_constant<int, 4>());
  take(std::integral_constant<int, 2>());
  take(std::integral_constant<int, 1>());
}

// ---- One head -----------------------------------------------------------------------------------------------------

using Scratch = std::vector<Real, PoolAllocator<Real>>;

// Room for a padded matrix; what stands in the padding is 0.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns)
      : step_(padded(columns)), numbers_(static_cast<std::size_t>(rows * step_), Real(0)) {}

  Real* row(std::int64_t i) { return numbers_.data() + i * step_; }
  const Real* row(std::int64_t i) const { return numbers_.data() + i * step_; }
  Padded view() { return {numbers_.data(), step_}; }
  Left left() const { return {numbers_.data(), step_, 1}; }
  Left left_transposed() const { return {numbers_.data(), 1, step_}; }

  void read(const Real* from, std::int64_t row_step, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t i = 0; i < rows; ++i) {
      each_pack(columns, [&](std::int64_t j, auto part) { part.load(from + i * row_step + j).store(row(i) + j); });
    }
  }
  void read_transposed(const Real* from, std::int64_t row_step, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t first = 0; first < rows; first += width) {  // so that what is read stays in the cache
      const std::int64_t last = std::min(first + width, rows);
      for (std::int64_t j = 0; j < columns; ++j) {
        for (std::int64_t i = first; i < last; ++i) row(j)[i] = from[i * row_step + j];
      }
    }
  }
  void write(Real* to, std::int64_t row_step, std::int64_t rows, std::int64_t columns) const {
    for (std::int64_t i = 0; i < rows; ++i) {
      each_pack(columns, [&](std::int64_t j, auto part) { part.store(Pack::load(row(i) + j), to + i * row_step + j); });
    }
  }
  bool finite() const { return all_finite(numbers_.data(), static_cast<std::int64_t>(numbers_.size())); }

 private:
  std::int64_t step_;
  Scratch numbers_;
};

// In place: softmax of row[0 ... n), 0 behind it up to `columns`. -inf marks what is ignored.
void softmax_row(Real* row, std::int64_t n, std::int64_t columns) {
  const Real top = max_of_row(row, n);
  if (top == -infinity) {
    std::fill(row, row + columns, Real(0));
    return;
  }
  const std::int64_t end = padded(n);
  const Pack shift(top);
  Pack sum(0);
  each_pack(n, [&](std::int64_t j, auto part) {
    const Pack x = part.load(row + j, -infinity);
    const Pack power = where(x == -infinity, 0, exp(x - shift));
    power.store(row + j);
    sum = sum + power;
  });
  const Pack share(1 / sum_of(sum));
  for (std::int64_t j = 0; j < end; j += width) (Pack::load(row + j) * share).store(row + j);
  for (std::int64_t j = end; j < columns; j += width) Pack(0).store(row + j);
}

// y_i = sum of a(i, k) b_k over the k with weight(i, k) != 0 only: for operands with infinities or NaN, which must not
// be multiplied by the zeros of a mask.
template <class Weight>
void careful_product(std::int64_t rows, std::int64_t depth, std::int64_t columns, const Left& a, const Padded& b,
                     const Padded& c, const Weight& weight) {
  for (std::int64_t i = 0; i < rows; ++i) {
    Real* y = c.data + i * c.step;
    std::fill_n(y, columns, Real(0));
    for (std::int64_t k = 0; k < depth; ++k) {
      if (weight(i, k) == 0) continue;
      const Real factor = a.data[i * a.row_step + k * a.depth_step];
      for (std::int64_t j = 0; j < columns; ++j) y[j] += factor * b.data[k * b.step + j];
    }
  }
}

std::int64_t heads_at_a_time(const Problem& p) {
  return std::max<std::int64_t>(1, (std::int64_t{1} << 16) / std::max<std::int64_t>(1, p.T * p.S * (p.d + p.e)));
}

struct Forward {
  Array y, weights;
};

// `keep` says whether the weights will be needed again.
Forward forward(const Problem& p, const Array& q, const Array& k, const Array& v, const Visible& visible,
                const WeightDropout& dropout, bool keep) {
  Forward result{.y = Array(p.y_shape), .weights = keep ? Array(p.weights_shape()) : Array()};
  if (p.S == 0 || p.d == 0 || result.y.size() == 0) {
    // No keys, no width or no output: the weights are uniform at best and the result is 0.
    if (p.S == 0 || result.y.size() == 0) {
      result.y = Array(p.y_shape, Real(0));
      if (keep) result.weights = Array(p.weights_shape(), Real(0));
      return result;
    }
  }
  Real* y = result.y.mutable_data();
  Real* weights = keep ? result.weights.mutable_data() : nullptr;
  parallel_for(p.B * p.H, heads_at_a_time(p), [&](std::int64_t first, std::int64_t last) {
    Matrix keys(p.d, p.S), scores(p.T, p.S), values(p.S, p.e), out(p.T, p.e);
    WeightDropout::Rows factors(dropout, p.S);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t b = i / p.H, h = i % p.H;
      keys.read_transposed(k.data() + p.k.at(b, h), p.k.row_step, p.S, p.d);
      values.read(v.data() + p.v.at(b, h), p.v.row_step, p.S, p.e);
      const auto seen = [&](std::int64_t, std::int64_t end) { return visible.causal() ? std::min(end, p.S) : p.S; };

      product(p.T, {q.data() + p.q.at(b, h), p.q.row_step, 1}, keys.view(), scores.view(),
              [&](std::int64_t from, std::int64_t to) {
                return Extent{0, p.d, seen(from, to)};
              });
      for (std::int64_t t = 0; t < p.T; ++t) {
        Real* row = scores.row(t);
        const std::int64_t limit = visible.limit(b, t);
        for (std::int64_t s = 0; s < limit; s += width) (Pack::load(row + s) * p.scale).store(row + s);
        visible.apply(b, h, t, limit, row);
        softmax_row(row, limit, padded(p.S));
        if (keep) {
          Real* to = weights + (i * p.T + t) * p.S;
          each_pack(p.S, [&](std::int64_t s, auto part) { part.store(Pack::load(row + s), to + s); });
        }
        if (dropout.on()) {
          const Real* factor = factors(i * p.T + t);
          for (std::int64_t s = 0; s < p.S; s += width) (Pack::load(row + s) * Pack::load(factor + s)).store(row + s);
        }
      }
      if (values.finite()) {
        product(p.T, scores.left(), values.view(), out.view(), [&](std::int64_t from, std::int64_t to) {
          return Extent{0, seen(from, to), p.e};
        });
      } else {
        careful_product(p.T, p.S, p.e, scores.left(), values.view(), out.view(),
                        [&](std::int64_t t, std::int64_t s) { return scores.row(t)[s]; });
      }
      out.write(y + p.y.at(b, h), p.y.row_step, p.T, p.e);
    }
  });
  return result;
}

struct Backward {
  Array q, k, v, scores;
};

Backward backward(const Problem& p, const Array& gy, const Array& q, const Array& k, const Array& v,
                  const Array& weights, const Visible& visible, const WeightDropout& dropout, bool want_scores) {
  Backward result{.q = Array(q.shape()), .k = Array(k.shape()), .v = Array(v.shape()), .scores = Array()};
  if (want_scores) result.scores = Array(p.weights_shape(), Real(0));
  Real* gq = result.q.mutable_data();
  Real* gk = result.k.mutable_data();
  Real* gv = result.v.mutable_data();
  Real* gs = want_scores ? result.scores.mutable_data() : nullptr;
  if (p.T == 0 || p.S == 0) {
    std::fill_n(gq, result.q.size(), Real(0));
    std::fill_n(gk, result.k.size(), Real(0));
    std::fill_n(gv, result.v.size(), Real(0));
    return result;
  }
  parallel_for(p.B * p.H, heads_at_a_time(p), [&](std::int64_t first, std::int64_t last) {
    Matrix values(p.e, p.S), keys(p.S, p.d), queries(p.T, p.d), above(p.T, p.e);
    Matrix share(p.T, p.S), dropped(p.T, p.S), slope(p.T, p.S);  // weights; after dropout; gradients of the scores
    Matrix dq(p.T, p.d), dk(p.S, p.d), dv(p.S, p.e);
    WeightDropout::Rows factors(dropout, p.S);
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t b = i / p.H, h = i % p.H;
      const Real* head_gy = gy.data() + p.y.at(b, h);
      values.read_transposed(v.data() + p.v.at(b, h), p.v.row_step, p.S, p.e);
      keys.read(k.data() + p.k.at(b, h), p.k.row_step, p.S, p.d);
      queries.read(q.data() + p.q.at(b, h), p.q.row_step, p.T, p.d);
      above.read(head_gy, p.y.row_step, p.T, p.e);
      share.read(weights.data() + i * p.T * p.S, p.S, p.T, p.S);
      const auto seen = [&](std::int64_t end) { return visible.causal() ? std::min(end, p.S) : p.S; };
      const auto from = [&](std::int64_t begin) { return visible.causal() ? std::min(begin, p.T) : std::int64_t{0}; };

      product(p.T, {head_gy, p.y.row_step, 1}, values.view(), slope.view(), [&](std::int64_t, std::int64_t end) {
        return Extent{0, p.e, seen(end)};
      });
      for (std::int64_t t = 0; t < p.T; ++t) {
        const Real* w = share.row(t);
        Real* g = slope.row(t);
        Real* used = dropped.row(t);
        const std::int64_t n = padded(seen(t + 1));
        const Real* factor = dropout.on() ? factors(i * p.T + t) : nullptr;
        for (std::int64_t s = 0; s < n; s += width) {
          const Pack kept = factor ? Pack::load(factor + s) : Pack(1);
          (Pack::load(w + s) * kept).store(used + s);
          (Pack::load(g + s) * kept).store(g + s);
        }
        Pack total(0);
        for (std::int64_t s = 0; s < n; s += width) {
          const Pack weight = Pack::load(w + s);
          total = total + where(weight == 0, 0, weight * Pack::load(g + s));
        }
        const Pack mean(sum_of(total));
        for (std::int64_t s = 0; s < n; s += width) {
          const Pack weight = Pack::load(w + s);
          where(weight == 0, 0, weight * (Pack::load(g + s) - mean)).store(g + s);
        }
        std::fill(g + n, g + padded(p.S), Real(0));
        std::fill(used + n, used + padded(p.S), Real(0));
        if (gs) std::copy_n(g, p.S, gs + (i * p.T + t) * p.S);
        for (std::int64_t s = 0; s < n; s += width) (Pack::load(g + s) * p.scale).store(g + s);
      }
      if (keys.finite()) {
        product(p.T, slope.left(), keys.view(), dq.view(), [&](std::int64_t, std::int64_t end) {
          return Extent{0, seen(end), p.d};
        });
      } else {
        careful_product(p.T, p.S, p.d, slope.left(), keys.view(), dq.view(),
                        [&](std::int64_t t, std::int64_t s) { return share.row(t)[s]; });
      }
      product(p.S, slope.left_transposed(), queries.view(), dk.view(), [&](std::int64_t begin, std::int64_t) {
        return Extent{from(begin), p.T, p.d};
      });
      product(p.S, dropped.left_transposed(), above.view(), dv.view(), [&](std::int64_t begin, std::int64_t) {
        return Extent{from(begin), p.T, p.e};
      });
      dq.write(gq + p.q.at(b, h), p.q.row_step, p.T, p.d);
      dk.write(gk + p.k.at(b, h), p.k.row_step, p.S, p.d);
      dv.write(gv + p.v.at(b, h), p.v.row_step, p.S, p.e);
    }
  });
  return result;
}

// ---- The composed form --------------------------------------------------------------------------------------------

// (B, T, H d) or (..., T, d) -> (B, H, T, d).
Tensor as_heads(const Tensor& x, const Problem& p, std::int64_t rows, std::int64_t columns, bool side_by_side) {
  if (!side_by_side) return reshape(x, {p.B, p.H, rows, columns});
  return transpose(reshape(x, {p.B, rows, p.H, columns}), 1, 2);
}

Tensor composed_weights(const Tensor& q, const Tensor& k, const Tensor& bias, const Problem& p,
                        const std::optional<Mask>& blocked) {
  Tensor scores = matmul(q, k, {.transpose_b = true}) * p.scale;  // (B, H, T, S)
  if (bias.defined()) scores = scores + bias;
  return blocked_softmax(scores, blocked ? *blocked : Mask(Shape{}, false));
}

// What does not change between the forms and passes of one call.
struct Call {
  Problem problem;
  Visible visible;
  WeightDropout dropout;
  bool side_by_side;

  Tensor composed(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) const {
    const Problem& p = problem;
    Tensor weights = composed_weights(as_heads(q, p, p.T, p.d, side_by_side), as_heads(k, p, p.S, p.d, side_by_side),
                                      bias, p, visible.blocked(p));
    if (dropout.on()) weights = dropout(weights);
    const Tensor y = matmul(weights, as_heads(v, p, p.S, p.e, side_by_side));  // (B, H, T, e)
    return reshape(side_by_side ? transpose(y, 1, 2) : y, p.y_shape);
  }
};

Tensor attend(const Call& call, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) {
  const bool keep = recording() && (q.requires_grad() || k.requires_grad() || v.requires_grad() ||
                                    (bias.defined() && bias.requires_grad()));
  Forward done = forward(call.problem, q.value(), k.value(), v.value(), call.visible, call.dropout, keep);
  if (!keep) return Tensor(std::move(done.y));

  if (!bias.defined()) {
    return record("attention", std::move(done.y),
                  jointly(
                      [call, q, k, v, weights = std::move(done.weights)](const Tensor& gy, Wanted wanted) {
                        if (recording()) {
                          return composed_gradients(std::array{q, k, v}, gy, wanted,
                                                    [&](const Tensor& a, const Tensor& b, const Tensor& c) {
                                                      return call.composed(a, b, c, Tensor());
                                                    });
                        }
                        Backward g = backward(call.problem, gy.value(), q.value(), k.value(), v.value(), weights,
                                              call.visible, call.dropout, false);
                        return std::array<Tensor, 3>{std::move(g.q), std::move(g.k), std::move(g.v)};
                      },
                      q, k, v));
  }
  return record("attention", std::move(done.y),
                jointly(
                    [call, q, k, v, bias, weights = std::move(done.weights)](const Tensor& gy, Wanted wanted) {
                      if (recording()) {
                        return composed_gradients(std::array{q, k, v, bias}, gy, wanted,
                                                  [&](const Tensor& a, const Tensor& b, const Tensor& c,
                                                      const Tensor& added) { return call.composed(a, b, c, added); });
                      }
                      Backward g = backward(call.problem, gy.value(), q.value(), k.value(), v.value(), weights,
                                            call.visible, call.dropout, wanted[3]);
                      std::array<Tensor, 4> result{std::move(g.q), std::move(g.k), std::move(g.v), Tensor()};
                      if (wanted[3]) result[3] = sum_to(Tensor(std::move(g.scores)), bias.shape());
                      return result;
                    },
                    q, k, v, bias));
}

WeightDropout checked_dropout(const char* op, const AttentionOptions& options) {
  if (!(options.dropout >= 0 && options.dropout <= 1)) {
    fail<ValueError>(op, "dropout ", options.dropout, " is not in [0, 1]");
  }
  if (options.dropout == 0) return WeightDropout(0, RandomKey{});
  return WeightDropout(options.dropout, options.key ? *options.key : next_random_key());
}

Real scale_for(const AttentionOptions& options, std::int64_t d) {
  return options.scale ? *options.scale : 1 / std::sqrt(static_cast<Real>(std::max<std::int64_t>(d, 1)));
}

Problem side_by_side(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
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
  return {.B = B,
          .H = heads,
          .T = T,
          .S = S,
          .d = d,
          .e = e,
          .q = {T * C, d, C},
          .k = {S * C, d, C},
          .v = {S * E, e, E},
          .y = {T * E, e, E},
          .y_shape = {B, T, E},
          .scale = scale_for(options, d)};
}

Problem stacked(const char* op, const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options) {
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
  return {.B = B,
          .H = H,
          .T = T,
          .S = S,
          .d = d,
          .e = e,
          .q = {H * T * d, T * d, d},
          .k = {H * S * d, S * d, d},
          .v = {H * S * e, S * e, e},
          .y = {H * T * e, T * e, e},
          .y_shape = y_shape,
          .scale = scale_for(options, d)};
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options) {
  constexpr const char* op = "scaled_dot_product_attention";
  const Problem problem = stacked(op, q, k, v, options);
  const Visible visible(op, options.mask, problem);
  return attend({problem, visible, checked_dropout(op, options), false}, q, k, v, options.mask.bias);
}

Tensor multi_head_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                            const AttentionOptions& options) {
  constexpr const char* op = "multi_head_attention";
  const Problem problem = side_by_side(op, q, k, v, heads, options);
  const Visible visible(op, options.mask, problem);
  return attend({problem, visible, checked_dropout(op, options), true}, q, k, v, options.mask.bias);
}

Tensor attention_weights(const Tensor& q, const Tensor& k, std::int64_t heads, const AttentionOptions& options) {
  constexpr const char* op = "attention_weights";
  const Problem p = side_by_side(op, q, k, k, heads, options);
  const Visible visible(op, options.mask, p);
  return composed_weights(as_heads(q, p, p.T, p.d, true), as_heads(k, p, p.S, p.d, true), options.mask.bias, p,
                          visible.blocked(p));
}

Tensor blocked_softmax(const Tensor& x, const Mask& blocked) {
  if (x.rank() == 0) fail<ShapeError>("blocked_softmax", "needs an axis");
  if (!broadcasts_to(blocked.shape(), x.shape())) {
    fail<ShapeError>("blocked_softmax", "blocked of shape ", blocked.shape(), " cannot become ", x.shape());
  }
  if (x.dim(-1) == 0) return x;
  const Tensor open = where(blocked, -infinity, x);
  const Tensor most = max(open.detach(), {.axis = -1, .keepdim = true});
  const Tensor shift = where(most == -infinity, 0, most);  // nothing to shift where all is blocked
  const Tensor powers = where(open == -infinity, 0, exp(where(open == -infinity, 0, x - shift)));
  const Tensor total = sum(powers, {.axis = -1, .keepdim = true});
  return powers / where(total == 0, 1, total);
}

}  // namespace xgrad::inline XGRAD_ABI
