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
  // Adds the bias to the scores of `count` queries, side by side in rows of `step`, with keys 0 ... keys - 1, and puts
  // -inf where a key is ignored.
  void apply(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count, std::int64_t keys, Real* scores,
             std::int64_t step) const {
    if (mask_.bias.defined()) {
      const Real* bias = mask_.bias.value().data() + b * bias_[0] + h * bias_[1] + first * bias_[2];
      for (std::int64_t s = 0; s < keys; ++s) {
        for (std::int64_t i = 0; i < count; ++i) scores[s * step + i] += bias[i * bias_[2] + s * bias_[3]];
      }
    }
    if (mask_.ignore) {
      const bool* ignore = mask_.ignore->data() + b * ignore_[0] + h * ignore_[1] + first * ignore_[2];
      for (std::int64_t s = 0; s < keys; ++s) {
        for (std::int64_t i = 0; i < count; ++i) {
          if (ignore[i * ignore_[2] + s * ignore_[3]]) scores[s * step + i] = -infinity;
        }
      }
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

// Room for a matrix whose rows are filled up to whole packs, so that they can be read and written without a remainder.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns)
      : rows_(rows), step_(padded(columns)), numbers_(Shape{rows, step_}), data_(numbers_.mutable_data()) {}

  std::int64_t step() const { return step_; }
  Real* row(std::int64_t i) { return data_ + i * step_; }
  const Real* row(std::int64_t i) const { return data_ + i * step_; }
  Left left() const { return {data_, step_, 1}; }
  Left left_transposed() const { return {data_, 1, step_}; }
  // Of all rows, the padding included.
  bool finite() const { return all_finite(data_, rows_ * step_); }

  void fill(Real value) { std::fill_n(data_, rows_ * step_, value); }
  // Takes `count` rows of `columns` numbers, 0 in the padding; rows without a counterpart become 0.
  void read(const Real* from, std::int64_t row_step, std::int64_t count, std::int64_t columns) {
    for (std::int64_t i = 0; i < count; ++i) {
      each_pack(columns, [&](std::int64_t j, auto part) { part.load(from + i * row_step + j).store(row(i) + j); });
    }
    std::fill(row(count), row(rows_), Real(0));
  }
  // Column i becomes row i of `from`, times `scale`; further columns become 0.
  void read_transposed(const Real* from, std::int64_t row_step, std::int64_t count, std::int64_t columns,
                       Real scale = 1) {
    for (std::int64_t j = 0; j < columns; ++j) {
      Real* to = row(j);
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * row_step + j] * scale;
      std::fill(to + count, to + step_, Real(0));
    }
  }
  void write(Real* to, std::int64_t row_step, std::int64_t count, std::int64_t columns) const {
    for (std::int64_t i = 0; i < count; ++i) {
      each_pack(columns, [&](std::int64_t j, auto part) { part.store(Pack::load(row(i) + j), to + i * row_step + j); });
    }
  }

 private:
  std::int64_t rows_, step_;
  Array numbers_;
  Real* data_;
};

// What a group of rows of a product needs of the inner index and of the columns.
struct Extent {
  std::int64_t begin, end, first_column;
};
enum class Into { replace, add };

template <int rows, int packs>
void product_block(const Left& a, const Real* b, std::int64_t b_step, std::int64_t begin, std::int64_t end, Real* c,
                   std::int64_t c_step, Into into) {
  Pack sum[rows][packs];
  if (into == Into::add) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < packs; ++j) sum[i][j] = Pack::load(c + i * c_step + j * pack_width);
    }
  }
  for (std::int64_t k = begin; k < end; ++k) {
    Pack row[packs];
    for (int j = 0; j < packs; ++j) row[j] = Pack::load(b + k * b_step + j * pack_width);
    for (int i = 0; i < rows; ++i) {
      const Pack factor(a.data[i * a.row_step + k * a.depth_step]);
      for (int j = 0; j < packs; ++j) sum[i][j] = multiply_add(factor, row[j], sum[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < packs; ++j) sum[i][j].store(c + i * c_step + j * pack_width);
  }
}

// c = a b or c += a b for the first `rows` rows; `extent(i, j)` says what rows i ... j - 1 need.
template <class F>
void product(std::int64_t rows, const Left& a, const Matrix& b, Matrix& c, Into into, const F& extent) {
  std::int64_t i = 0;
  const auto take = [&]<int together>(std::integral_constant<int, together>) {
    for (; i + together <= rows; i += together) {
      const Extent part = extent(i, i + together);
      const Left some{a.data + i * a.row_step, a.row_step, a.depth_step};
      std::int64_t j = part.first_column;
      for (; j + 2 * pack_width <= c.step(); j += 2 * pack_width) {
        product_block<together, 2>(some, b.row(0) + j, b.step(), part.begin, part.end, c.row(i) + j, c.step(), into);
      }
      if (j < c.step()) {
        product_block<together, 1>(some, b.row(0) + j, b.step(), part.begin, part.end, c.row(i) + j, c.step(), into);
      }
    }
  };
  // As many rows at once as there are registers for: every sum waits for the one before.
  take(std::integral_constant<int, 8>());
  take(std::integral_constant<int, 4>());
  take(std::integral_constant<int, 2>());
  take(std::integral_constant<int, 1>());
}

// The same for a left operand of weights or their gradients where b holds infinities or NaN: they are not multiplied by
// the zeros of a mask.
void careful_product(std::int64_t rows, std::int64_t depth, const Left& a, const Matrix& b, Matrix& c, Into into) {
  for (std::int64_t i = 0; i < rows; ++i) {
    Real* y = c.row(i);
    if (into == Into::replace) std::fill_n(y, c.step(), Real(0));
    for (std::int64_t k = 0; k < depth; ++k) {
      const Real factor = a.data[i * a.row_step + k * a.depth_step];
      if (factor == 0) continue;
      for (std::int64_t j = 0; j < c.step(); ++j) y[j] += factor * b.row(k)[j];
    }
  }
}

// ---- One head -----------------------------------------------------------------------------------------------------

// Queries are taken some at a time and stand side by side in the places of packs, with one row of scores per key. So
// the maximum and the sum of a softmax go down the rows, and never across a register.
struct Queries {
  std::int64_t first = 0, count = 0;  // which
  std::int64_t keys = 0;              // from this one on no key is visible to any of them
  std::int64_t all_see = 0;           // keys before this one are visible to all of them
  Array limits;                       // for each: from this one on keys are not visible; `keys` in further places

  std::int64_t end() const { return first + count; }
};

std::int64_t queries_at_a_time(const Problem& p) { return std::min(padded(p.T), 2 * pack_width); }

std::int64_t heads_at_a_time(const Problem& p) {
  return std::max<std::int64_t>(1, (std::int64_t{1} << 16) / std::max<std::int64_t>(1, p.T * p.S * (p.d + p.e)));
}

// Calls f for the queries of batch b, some at a time.
template <class F>
void each_queries(const Problem& p, const Visible& visible, std::int64_t b, Queries& queries, const F& f) {
  const std::int64_t lanes = queries_at_a_time(p);
  if (queries.limits.size() != lanes) queries.limits = Array(Shape{lanes});
  for (queries.first = 0; queries.first < p.T; queries.first += lanes) {
    queries.count = std::min(lanes, p.T - queries.first);
    queries.keys = 0;
    queries.all_see = p.S;
    Real* limits = queries.limits.mutable_data();
    for (std::int64_t i = 0; i < queries.count; ++i) {
      const std::int64_t limit = visible.limit(b, queries.first + i);
      limits[i] = static_cast<Real>(limit);
      queries.keys = std::max(queries.keys, limit);
      queries.all_see = std::min(queries.all_see, limit);
    }
    std::fill(limits + queries.count, limits + lanes, static_cast<Real>(queries.keys));
    f();
  }
}

// In place: the softmax down every column of scores.
void softmax_columns(Matrix& scores, const Queries& queries) {
  for (std::int64_t j = 0; j < scores.step(); j += pack_width) {
    const Pack limit = Pack::load(queries.limits.data() + j);
    Pack most(-infinity);
    for (std::int64_t s = 0; s < queries.all_see; ++s) most = larger(most, Pack::load(scores.row(s) + j));
    for (std::int64_t s = queries.all_see; s < queries.keys; ++s) {
      const Pack score = where(Pack(s) < limit, Pack::load(scores.row(s) + j), -infinity);
      score.store(scores.row(s) + j);
      most = larger(most, score);
    }
    const Pack shift = where(most == -infinity, 0, most);  // where nothing is visible all powers are 0
    Pack sum(0);
    for (std::int64_t s = 0; s < queries.keys; ++s) {
      const Pack power = exp(Pack::load(scores.row(s) + j) - shift);
      power.store(scores.row(s) + j);
      sum = sum + power;
    }
    const Pack share = where(sum == 0, 0, 1 / sum);
    for (std::int64_t s = 0; s < queries.keys; ++s) (Pack::load(scores.row(s) + j) * share).store(scores.row(s) + j);
  }
}

// The factors that dropout puts on the weights, in the order of the scores.
class DropoutFactors {
 public:
  DropoutFactors(const WeightDropout& dropout, const Problem& p)
      : rows_(dropout, p.S), factors_(dropout.on() ? p.S : 0, queries_at_a_time(p)), T_(p.T), on_(dropout.on()) {
    factors_.fill(0);
  }
  bool on() const { return on_; }
  void draw(std::int64_t head, const Queries& queries) {
    for (std::int64_t i = 0; i < queries.count; ++i) {
      const Real* row = rows_(head * T_ + queries.first + i);
      for (std::int64_t s = 0; s < queries.keys; ++s) factors_.row(s)[i] = row[s];
    }
  }
  const Real* row(std::int64_t key) const { return factors_.row(key); }

 private:
  WeightDropout::Rows rows_;
  Matrix factors_;
  std::int64_t T_;
  bool on_;
};

struct Forward {
  Array y, weights;
};

// The room that the weights of all heads take, in the order of the scores.
Shape kept_shape(const Problem& p) {
  const std::int64_t lanes = queries_at_a_time(p);
  return {p.B * p.H, (p.T + lanes - 1) / lanes, p.S, lanes};
}

// Where the weights of some queries of a head are kept.
std::int64_t kept_at(const Problem& p, std::int64_t head, const Queries& queries) {
  const std::int64_t lanes = queries_at_a_time(p);
  return (head * ((p.T + lanes - 1) / lanes) + queries.first / lanes) * p.S * lanes;
}

// The first of so many columns that keys i ... are visible to, rounded down to whole packs.
std::int64_t first_column(const Visible& visible, const Queries& queries, std::int64_t key) {
  return visible.causal()
             ? std::clamp<std::int64_t>(key - queries.first, 0, queries.count - 1) / pack_width * pack_width
             : 0;
}
// The first of these queries that key i is visible to, and the number of keys that queries below i see.
std::int64_t first_query(const Visible& visible, const Queries& queries, std::int64_t key) {
  return visible.causal() ? std::clamp<std::int64_t>(key - queries.first, 0, queries.count) : 0;
}
std::int64_t keys_before(const Visible& visible, const Queries& queries, std::int64_t query) {
  return visible.causal() ? std::min(queries.keys, queries.first + query) : queries.keys;
}

// `keep` says whether the weights will be needed again.
Forward forward(const Problem& p, const Array& q, const Array& k, const Array& v, const Visible& visible,
                const WeightDropout& dropout, bool keep) {
  Forward result{.y = Array(p.y_shape), .weights = keep ? Array(kept_shape(p)) : Array()};
  if (result.y.size() == 0) return result;
  Real* y = result.y.mutable_data();
  Real* weights = keep ? result.weights.mutable_data() : nullptr;
  const std::int64_t lanes = queries_at_a_time(p);
  parallel_for(p.B * p.H, heads_at_a_time(p), [&](std::int64_t first, std::int64_t last) {
    Matrix query(p.d, lanes), scores(p.S, lanes), values(p.S, p.e), out(lanes, p.e);
    DropoutFactors factors(dropout, p);
    Queries queries;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t b = i / p.H, h = i % p.H;
      values.read(v.data() + p.v.at(b, h), p.v.row_step, p.S, p.e);
      const bool finite = values.finite();
      each_queries(p, visible, b, queries, [&] {
        query.read_transposed(q.data() + p.q.at(b, h) + queries.first * p.q.row_step, p.q.row_step, queries.count, p.d,
                              p.scale);
        product(queries.keys, {k.data() + p.k.at(b, h), p.k.row_step, 1}, query, scores, Into::replace,
                [&](std::int64_t from, std::int64_t) {
                  return Extent{0, p.d, first_column(visible, queries, from)};
                });
        visible.apply(b, h, queries.first, queries.count, queries.keys, scores.row(0), lanes);
        softmax_columns(scores, queries);
        if (keep) std::copy_n(scores.row(0), queries.keys * lanes, weights + kept_at(p, i, queries));
        if (factors.on()) {
          factors.draw(i, queries);
          for (std::int64_t j = 0; j < queries.keys * lanes; j += pack_width) {
            (Pack::load(scores.row(0) + j) * Pack::load(factors.row(0) + j)).store(scores.row(0) + j);
          }
        }
        if (finite) {
          product(queries.count, scores.left_transposed(), values, out, Into::replace,
                  [&](std::int64_t, std::int64_t to) {
                    return Extent{0, keys_before(visible, queries, to), 0};
                  });
        } else {
          careful_product(queries.count, queries.keys, scores.left_transposed(), values, out, Into::replace);
        }
        out.write(y + p.y.at(b, h) + queries.first * p.y.row_step, p.y.row_step, queries.count, p.e);
      });
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
  const std::int64_t lanes = queries_at_a_time(p);
  parallel_for(p.B * p.H, heads_at_a_time(p), [&](std::int64_t first, std::int64_t last) {
    Matrix keys(p.S, p.d), query(lanes, p.d), above(lanes, p.e), above_transposed(p.e, lanes);
    Matrix share(p.S, lanes),
        slope(p.S, lanes);  // the weights, then after dropout; gradients of weights, then of scores
    Matrix dq(lanes, p.d), dk(p.S, p.d), dv(p.S, p.e);
    DropoutFactors factors(dropout, p);
    Queries queries;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t b = i / p.H, h = i % p.H;
      keys.read(k.data() + p.k.at(b, h), p.k.row_step, p.S, p.d);
      const bool finite_keys = keys.finite();
      dk.fill(0);
      dv.fill(0);
      each_queries(p, visible, b, queries, [&] {
        const Real* head_gy = gy.data() + p.y.at(b, h) + queries.first * p.y.row_step;
        query.read(q.data() + p.q.at(b, h) + queries.first * p.q.row_step, p.q.row_step, queries.count, p.d);
        above.read(head_gy, p.y.row_step, queries.count, p.e);
        above_transposed.read_transposed(head_gy, p.y.row_step, queries.count, p.e);
        if (factors.on()) factors.draw(i, queries);

        product(queries.keys, {v.data() + p.v.at(b, h), p.v.row_step, 1}, above_transposed, slope, Into::replace,
                [&](std::int64_t from, std::int64_t) {
                  return Extent{0, p.e, first_column(visible, queries, from)};
                });
        const Real* kept = weights.data() + kept_at(p, i, queries);
        for (std::int64_t j = 0; j < lanes; j += pack_width) {
          Pack mean(0);  // of the gradients, by weight
          for (std::int64_t s = 0; s < queries.keys; ++s) {
            const Pack weight = Pack::load(kept + s * lanes + j);
            const Pack factor = factors.on() ? Pack::load(factors.row(s) + j) : Pack(1);
            const Pack gradient = where(weight == 0, 0, Pack::load(slope.row(s) + j) * factor);
            gradient.store(slope.row(s) + j);
            (weight * factor).store(share.row(s) + j);
            mean = multiply_add(weight, gradient, mean);
          }
          for (std::int64_t s = 0; s < queries.keys; ++s) {
            const Pack weight = Pack::load(kept + s * lanes + j);
            where(weight == 0, 0, weight * (Pack::load(slope.row(s) + j) - mean)).store(slope.row(s) + j);
          }
        }
        if (gs) {
          for (std::int64_t t = 0; t < queries.count; ++t) {
            Real* to = gs + (i * p.T + queries.first + t) * p.S;
            for (std::int64_t s = 0; s < queries.keys; ++s) to[s] = slope.row(s)[t];
          }
        }
        for (std::int64_t j = 0; j < queries.keys * lanes; j += pack_width) {
          (Pack::load(slope.row(0) + j) * p.scale).store(slope.row(0) + j);
        }

        if (finite_keys) {
          product(queries.count, slope.left_transposed(), keys, dq, Into::replace, [&](std::int64_t, std::int64_t to) {
            return Extent{0, keys_before(visible, queries, to), 0};
          });
        } else {
          careful_product(queries.count, queries.keys, slope.left_transposed(), keys, dq, Into::replace);
        }
        const auto seeing = [&](std::int64_t from, std::int64_t) {
          return Extent{first_query(visible, queries, from), queries.count, 0};
        };
        if (query.finite()) {
          product(queries.keys, slope.left(), query, dk, Into::add, seeing);
        } else {
          careful_product(queries.keys, queries.count, slope.left(), query, dk, Into::add);
        }
        if (above.finite()) {
          product(queries.keys, share.left(), above, dv, Into::add, seeing);
        } else {
          careful_product(queries.keys, queries.count, share.left(), above, dv, Into::add);
        }
        dq.write(gq + p.q.at(b, h) + queries.first * p.q.row_step, p.q.row_step, queries.count, p.d);
      });
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
