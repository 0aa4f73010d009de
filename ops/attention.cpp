// Attention: a kernel over batch and heads that reads the heads in place, and the composed form that it is held
// against.
//
// Matrices are small here (a head has 8 to 64 columns), so that the products are done by a register-blocked loop of our
// own on padded copies of one head, instead of many calls of a BLAS.
#include "attention.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "../core/grad.h"
#include "../core/parallel.h"
#include "../core/record.h"
#include "arithmetic.h"
#include "elementwise.h"
#include "matmul.h"
#include "normalize.h"
#include "reduce.h"
#include "kernels/rows.h"
#include "shape.h"

namespace xgrad {
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
    if (mask.band) {
      if (mask.band->before < 0 || mask.band->after < 0) {
        fail<ValueError>(op, "a band of ", mask.band->before, " before and ", mask.band->after,
                         " after: must not be negative");
      }
      const std::int64_t all = std::max(T_, S_);  // a side that is longer says no more, and sums with it could overflow
      mask_.band = AttentionBand{std::min(mask.band->before, all), std::min(mask.band->after, all)};
    }
    constexpr std::int64_t exact = std::int64_t{1} << std::numeric_limits<Real>::digits;
    if ((mask.causal || mask.band || mask.lengths) && S_ > exact) {
      fail<LimitError>(op, S_, " keys: positions beyond ", exact, " cannot be told apart, as this mask needs it");
    }
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
    if (mask_.band) limit = std::min(limit, t + mask_.band->after + 1);
    if (mask_.lengths) limit = std::min(limit, mask_.lengths->data()[per_query_ ? b * T_ + t : b]);
    return limit;
  }
  // Keys before this one are not visible to query t.
  std::int64_t start(std::int64_t t) const {
    return mask_.band ? std::clamp<std::int64_t>(t - mask_.band->before, 0, S_) : 0;
  }
  // At most so many keys are visible to some of `count` queries in a row.
  std::int64_t most_keys(std::int64_t count) const {
    return mask_.band ? std::min(S_, std::max<std::int64_t>(0, count + mask_.band->before + mask_.band->after)) : S_;
  }
  // Adds the bias to the scores of `count` queries, side by side in rows of `step`, with keys begin ... end - 1, and
  // puts -inf where a key is ignored.
  void apply(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t count, std::int64_t begin,
             std::int64_t end, Real* scores, std::int64_t step) const {
    if (mask_.bias.defined()) {
      const Real* bias = mask_.bias.value().data() + b * bias_[0] + h * bias_[1] + first * bias_[2] + begin * bias_[3];
      for (std::int64_t s = 0; s < end - begin; ++s) {
        for (std::int64_t i = 0; i < count; ++i) scores[s * step + i] += bias[i * bias_[2] + s * bias_[3]];
      }
    }
    if (mask_.ignore) {
      const bool* ignore =
          mask_.ignore->data() + b * ignore_[0] + h * ignore_[1] + first * ignore_[2] + begin * ignore_[3];
      for (std::int64_t s = 0; s < end - begin; ++s) {
        for (std::int64_t i = 0; i < count; ++i) {
          if (ignore[i * ignore_[2] + s * ignore_[3]]) scores[s * step + i] = -infinity;
        }
      }
    }
  }
  // Whether a query never sees keys behind its own position.
  bool causal() const { return mask_.causal; }

  // The same as one mask of (B, H, T, S) or smaller; nothing if all is visible.
  std::optional<Mask> blocked(const Problem& p) const {
    if (!mask_.causal && !mask_.band && !mask_.lengths && !mask_.ignore) return std::nullopt;
    Mask result(p.weights_shape());
    if (result.size() == 0) return result;
    bool* out = result.mutable_data();
    for (std::int64_t b = 0; b < p.B; ++b) {
      for (std::int64_t h = 0; h < p.H; ++h) {
        for (std::int64_t t = 0; t < p.T; ++t, out += p.S) {
          const std::int64_t begin = start(t), end = limit(b, t);
          for (std::int64_t s = 0; s < p.S; ++s) {
            out[s] = s < begin || s >= end ||
                     (mask_.ignore &&
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

// Rows of a Matrix from one on.
struct Rows {
  Real* data;
  std::int64_t step_;

  std::int64_t step() const { return step_; }
  Real* row(std::int64_t i) const { return data + i * step_; }
};

// Room for a matrix whose rows are filled up to whole packs, so that they can be read and written without a remainder.
class Matrix {
 public:
  Matrix(std::int64_t rows, std::int64_t columns)
      : rows_(rows), step_(padded(columns)), numbers_(Shape{rows, step_}), data_(numbers_.mutable_data()) {}

  std::int64_t step() const { return step_; }
  Real* row(std::int64_t i) { return data_ + i * step_; }
  const Real* row(std::int64_t i) const { return data_ + i * step_; }
  Rows rows_from(std::int64_t i) const { return {data_ + i * step_, step_}; }
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
    const std::int64_t squares = columns / pack_width * pack_width;
    for (std::int64_t i = 0; i < step_; i += pack_width) {
      const bool whole = i + pack_width <= count;
      for (std::int64_t j = 0; whole && j < squares; j += pack_width) {
        transpose_square(from + i * row_step + j, row_step, row(j) + i, step_);
      }
      for (std::int64_t j = whole ? squares : 0; j < columns; ++j) {
        for (std::int64_t k = i; k < i + pack_width; ++k) row(j)[k] = k < count ? from[k * row_step + j] : 0;
      }
    }
    if (scale == 1) return;
    for (std::int64_t i = 0; i < columns * step_; i += pack_width) (Pack::load(data_ + i) * scale).store(data_ + i);
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
void product(std::int64_t rows, const Left& a, const Rows& b, const Rows& c, Into into, const F& extent) {
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
void careful_product(std::int64_t rows, std::int64_t depth, const Left& a, const Rows& b, const Rows& c, Into into) {
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

// Queries are taken some at a time and stand side by side in the places of packs, with one row of scores per key that
// any of them sees. So the maximum and the sum of a softmax go down the rows, and never across a register.
struct Queries {
  std::int64_t first = 0, count = 0;  // which
  std::int64_t begin = 0, end = 0;    // the keys that are visible to some of them
  std::int64_t all_from = 0;          // keys from this one on, and
  std::int64_t all_to = 0;            // before this one, are visible to all of them
  Array starts, limits;               // of each: the keys before, and from this one on, are not visible

  std::int64_t keys() const { return end - begin; }
};

std::int64_t queries_at_a_time(const Problem& p) { return std::min(padded(p.T), 2 * pack_width); }

std::int64_t heads_at_a_time(const Problem& p) {
  std::int64_t heads = std::int64_t{1} << 16;
  for (const std::int64_t size : {p.T, p.S, p.d + p.e}) heads /= std::max<std::int64_t>(size, 1);
  return std::max<std::int64_t>(heads, 1);
}

// Calls f for the queries of batch b, some at a time.
template <class F>
void each_queries(const Problem& p, const Visible& visible, std::int64_t b, Queries& queries, const F& f) {
  const std::int64_t lanes = queries_at_a_time(p);
  if (queries.limits.size() != lanes) queries.starts = queries.limits = Array(Shape{lanes});
  for (queries.first = 0; queries.first < p.T; queries.first += lanes) {
    queries.count = std::min(lanes, p.T - queries.first);
    queries.begin = queries.all_to = p.S;
    queries.end = queries.all_from = 0;
    Real* starts = queries.starts.mutable_data();
    Real* limits = queries.limits.mutable_data();
    for (std::int64_t i = 0; i < queries.count; ++i) {
      const std::int64_t limit = visible.limit(b, queries.first + i), start = visible.start(queries.first + i);
      starts[i] = static_cast<Real>(start);
      limits[i] = static_cast<Real>(limit);
      queries.all_from = std::max(queries.all_from, start);
      queries.all_to = std::min(queries.all_to, limit);
      if (start >= limit) continue;  // sees nothing, wherever that is: no key is there for its sake
      queries.begin = std::min(queries.begin, start);
      queries.end = std::max(queries.end, limit);
    }
    queries.begin = std::min(queries.begin, queries.end);  // 0 if none of them sees anything
    // Further places see what the last query sees, so that their numbers stay finite.
    std::fill(starts + queries.count, starts + lanes, starts[queries.count - 1]);
    std::fill(limits + queries.count, limits + lanes, limits[queries.count - 1]);
    f();
  }
}

// Scores of keys that a query does not see become -inf.
void hide(Matrix& scores, const Queries& queries) {
  const auto rows = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t s = from; s < to; ++s) {
      for (std::int64_t j = 0; j < scores.step(); j += pack_width) {
        const Pack start = Pack::load(queries.starts.data() + j), limit = Pack::load(queries.limits.data() + j);
        Real* score = scores.row(s - queries.begin) + j;
        where(Pack(s) >= start && Pack(s) < limit, Pack::load(score), -infinity).store(score);
      }
    }
  };
  const std::int64_t from = std::clamp(queries.all_from, queries.begin, queries.end);
  const std::int64_t to = std::clamp(queries.all_to, from, queries.end);
  rows(queries.begin, from);
  rows(to, queries.end);
}

// Calls f with the number of packs side by side in rows of `step` numbers, 1 or 2, as a type: loops over keys take them
// together, because each waits for its own last result.
template <class F>
void with_packs(std::int64_t step, const F& f) {
  if (step == pack_width) {
    f(std::integral_constant<int, 1>());
  } else {
    f(std::integral_constant<int, 2>());
  }
}

// Makes scores and their maxima fit for e^(score - max) where the maximum is infinite. Nothing is subtracted where
// nothing is visible, so that all powers are 0. Scores of +inf share the whole weight, as in softmax().
template <int packs>
void replace_infinities(Real* scores, std::int64_t keys, Pack (&most)[packs]) {
  Real infinite = 0;
  for (const Pack& each : most) infinite += sum_of(where(each == infinity, 1, 0));
  if (infinite > 0) {
    for (std::int64_t s = 0; s < keys; ++s) {
      for (int j = 0; j < packs; ++j) {
        Real* at = scores + (s * packs + j) * pack_width;
        const Pack score = Pack::load(at);
        const Pack replaced = where(score == infinity, 0, where(score < infinity, -infinity, score));
        where(most[j] == infinity, replaced, score).store(at);
      }
    }
  }
  for (Pack& each : most) each = where(each == -infinity || each == infinity, 0, each);
}

// In place: scores become powers e^(score - max). Of each query the maximum and the reciprocal sum of powers, 0 if it
// sees nothing. The two are not put into one number, which would be rounded to the digits of the larger.
template <int packs>
void powers_of(Real* scores, std::int64_t keys, Real* maximum, Real* share) {
  Pack most[packs], sum[packs];
  for (Pack& each : most) each = -infinity;
  for (std::int64_t s = 0; s < keys; ++s) {
    for (int j = 0; j < packs; ++j) most[j] = larger(most[j], Pack::load(scores + (s * packs + j) * pack_width));
  }
  for (int j = 0; j < packs; ++j) most[j].store(maximum + j * pack_width);
  replace_infinities<packs>(scores, keys, most);
  for (std::int64_t s = 0; s < keys; ++s) {
    for (int j = 0; j < packs; ++j) {
      Real* score = scores + (s * packs + j) * pack_width;
      const Pack power = exp(Pack::load(score) - most[j]);
      power.store(score);
      sum[j] = sum[j] + power;
    }
  }
  for (int j = 0; j < packs; ++j) where(sum[j] == 0, 0, 1 / sum[j]).store(share + j * pack_width);
}

// In place: scores become the weights that they were, before dropout, from what powers_of said of them.
template <int packs>
void weights_again(Real* scores, std::int64_t keys, const Real* maximum, const Real* share) {
  Pack most[packs], part[packs];
  for (int j = 0; j < packs; ++j) {
    most[j] = Pack::load(maximum + j * pack_width);
    part[j] = Pack::load(share + j * pack_width);
  }
  replace_infinities<packs>(scores, keys, most);
  for (std::int64_t s = 0; s < keys; ++s) {
    for (int j = 0; j < packs; ++j) {
      Real* score = scores + (s * packs + j) * pack_width;
      (exp(Pack::load(score) - most[j]) * part[j]).store(score);
    }
  }
}

// Powers become weights, which are also kept if wanted, times what dropout makes of them.
template <int packs>
void weights_of(Real* powers, std::int64_t keys, const Real* share, const Real* factors, Real* kept) {
  Pack part[packs];
  for (int j = 0; j < packs; ++j) part[j] = Pack::load(share + j * pack_width);
  for (std::int64_t i = 0; i < keys * packs * pack_width; i += packs * pack_width) {
    for (int j = 0; j < packs; ++j) {
      const std::int64_t at = i + j * pack_width;
      const Pack weight = Pack::load(powers + at) * part[j];
      if (kept) weight.store(kept + at);
      (factors ? weight * Pack::load(factors + at) : weight).store(powers + at);
    }
  }
}

// Gradients of the weights after dropout, in `slope`, become those of the scores times `scale`; `share` becomes the
// weights after dropout. It may be where the weights are.
template <int packs>
void score_gradients_of(const Real* weights, const Real* factors, std::int64_t keys, Real scale, Real* slope,
                        Real* share) {
  Pack mean[packs];  // of the gradients, by weight
  const std::int64_t end = keys * packs * pack_width;
  for (std::int64_t i = 0; i < end; i += packs * pack_width) {
    for (int j = 0; j < packs; ++j) {
      const std::int64_t at = i + j * pack_width;
      const Pack weight = Pack::load(weights + at);
      const Pack above = factors ? Pack::load(slope + at) * Pack::load(factors + at) : Pack::load(slope + at);
      const Pack gradient = where(weight == 0, 0, above);
      gradient.store(slope + at);
      mean[j] = multiply_add(weight, gradient, mean[j]);
    }
  }
  for (std::int64_t i = 0; i < end; i += packs * pack_width) {
    for (int j = 0; j < packs; ++j) {
      const std::int64_t at = i + j * pack_width;
      const Pack weight = Pack::load(weights + at);
      where(weight == 0, 0, weight * scale * (Pack::load(slope + at) - mean[j])).store(slope + at);
      (factors ? weight * Pack::load(factors + at) : weight).store(share + at);
    }
  }
}

// The factors that dropout puts on the weights, in the order of the scores.
class DropoutFactors {
 public:
  DropoutFactors(const WeightDropout& dropout, const Problem& p, std::int64_t most_keys)
      : rows_(dropout, p.S), factors_(dropout.on() ? most_keys : 0, queries_at_a_time(p)), T_(p.T), on_(dropout.on()) {
    factors_.fill(0);
  }
  bool on() const { return on_; }
  void draw(std::int64_t head, const Queries& queries) {
    for (std::int64_t i = 0; i < queries.count; ++i) {
      const Real* row = rows_(head * T_ + queries.first + i) + queries.begin;
      for (std::int64_t s = 0; s < queries.keys(); ++s) factors_.row(s)[i] = row[s];
    }
  }
  const Real* row(std::int64_t key) const { return factors_.row(key); }

 private:
  WeightDropout::Rows rows_;
  Matrix factors_;
  std::int64_t T_;
  bool on_;
};

// Where queries, keys and values, or their gradients, begin.
template <class Number>
struct Operands {
  Number *q, *k, *v;
};

// What the backward pass needs of the forward pass: the weights while keys are few, which saves computing them again,
// and else the maximum of each query's scores and the share that belongs to it. In the order of the scores.
class Kept {
 public:
  // Of a problem that has queries.
  explicit Kept(const Problem& p) : lanes_(queries_at_a_time(p)), blocks_((p.T + lanes_ - 1) / lanes_) {
    constexpr std::int64_t few_keys = 32;
    weights_ = p.S <= few_keys;
    rows_ = weights_ ? p.S : 2;
    numbers_ = Array(Shape{p.B * p.H * blocks_ * rows_ * lanes_});
  }
  bool weights() const { return weights_; }
  // The first row of some queries of a head, of `lanes` numbers: one for each key that they may see, or the maxima and,
  // behind them, the shares.
  Real* rows(std::int64_t head, const Queries& queries) { return numbers_.mutable_data() + at(head, queries); }
  const Real* rows(std::int64_t head, const Queries& queries) const { return numbers_.data() + at(head, queries); }

 private:
  std::int64_t at(std::int64_t head, const Queries& queries) const {
    return (head * blocks_ + queries.first / lanes_) * rows_ * lanes_;
  }

  std::int64_t lanes_, blocks_, rows_;
  bool weights_;
  Array numbers_;
};

// The first of so many columns that keys i ... are visible to, rounded down to whole packs. Here and below keys count
// from queries.begin.
std::int64_t first_column(const Visible& visible, const Queries& queries, std::int64_t key) {
  return visible.causal() ? std::clamp<std::int64_t>(queries.begin + key - queries.first, 0, queries.count - 1) /
                                pack_width * pack_width
                          : 0;
}
// The first of these queries that key i is visible to, and the number of keys that queries below i see.
std::int64_t first_query(const Visible& visible, const Queries& queries, std::int64_t key) {
  return visible.causal() ? std::clamp<std::int64_t>(queries.begin + key - queries.first, 0, queries.count) : 0;
}
std::int64_t keys_before(const Visible& visible, const Queries& queries, std::int64_t query) {
  return visible.causal() ? std::clamp<std::int64_t>(queries.first + query - queries.begin, 0, queries.keys())
                          : queries.keys();
}

// scores = scale k q' + bias of some queries, -inf where a key is not visible.
void score(const Problem& p, const Visible& visible, const Queries& queries, std::int64_t b, std::int64_t h,
           const Real* k, const Matrix& query, Matrix& scores) {
  product(queries.keys(), {k + p.k.at(b, h) + queries.begin * p.k.row_step, p.k.row_step, 1}, query.rows_from(0),
          scores.rows_from(0), Into::replace, [&](std::int64_t from, std::int64_t) {
            return Extent{0, p.d, first_column(visible, queries, from)};
          });
  visible.apply(b, h, queries.first, queries.count, queries.begin, queries.end, scores.row(0), scores.step());
  hide(scores, queries);
}

// y, which has elements, and what the backward pass needs if `kept` is given.
Array forward(const Problem& p, const Operands<const Real>& in, const Visible& visible, const WeightDropout& dropout,
              Kept* kept) {
  Array result(p.y_shape);
  Real* y = result.mutable_data();
  const std::int64_t lanes = queries_at_a_time(p), most_keys = visible.most_keys(lanes);
  parallel_for(p.B * p.H, heads_at_a_time(p), [&](std::int64_t first, std::int64_t last) {
    Matrix query(p.d, lanes), scores(most_keys, lanes), values(p.S, p.e), out(lanes, p.e);
    DropoutFactors factors(dropout, p, most_keys);
    Queries queries;
    Real sums[4 * Pack::width];  // maxima and shares that nobody keeps
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t b = i / p.H, h = i % p.H;
      values.read(in.v + p.v.at(b, h), p.v.row_step, p.S, p.e);
      const bool finite = values.finite();
      each_queries(p, visible, b, queries, [&] {
        query.read_transposed(in.q + p.q.at(b, h) + queries.first * p.q.row_step, p.q.row_step, queries.count, p.d,
                              p.scale);
        score(p, visible, queries, b, h, in.k, query, scores);
        if (factors.on()) factors.draw(i, queries);
        Real* to = kept ? kept->rows(i, queries) : nullptr;
        Real* maximum = to && !kept->weights() ? to : sums;
        Real* share = maximum + lanes;
        with_packs(lanes, [&](auto packs) {
          powers_of<packs>(scores.row(0), queries.keys(), maximum, share);
          weights_of<packs>(scores.row(0), queries.keys(), share, factors.on() ? factors.row(0) : nullptr,
                            to && kept->weights() ? to : nullptr);
        });
        const Rows seen = values.rows_from(queries.begin);
        if (finite) {
          product(queries.count, scores.left_transposed(), seen, out.rows_from(0), Into::replace,
                  [&](std::int64_t, std::int64_t to) {
                    return Extent{0, keys_before(visible, queries, to), 0};
                  });
        } else {
          careful_product(queries.count, queries.keys(), scores.left_transposed(), seen, out.rows_from(0),
                          Into::replace);
        }
        out.write(y + p.y.at(b, h) + queries.first * p.y.row_step, p.y.row_step, queries.count, p.e);
      });
    }
  });
  return result;
}

// Writes the gradients of q, k and v, and if asked adds those of the scores to (B, H, T, S) zeros. y has elements.
void backward(const Problem& p, const Array& gy, const Operands<const Real>& in, const Operands<Real>& out,
              const Kept& kept, const Visible& visible, const WeightDropout& dropout, Real* score_gradients) {
  const std::int64_t lanes = queries_at_a_time(p), most_keys = visible.most_keys(lanes);
  parallel_for(p.B * p.H, heads_at_a_time(p), [&](std::int64_t first, std::int64_t last) {
    Matrix keys(p.S, p.d), query(lanes, p.d), above(lanes, p.e), above_transposed(p.e, lanes);
    Matrix query_transposed(kept.weights() ? 0 : p.d, lanes);
    // The weights, then after dropout; gradients of weights, then of scores.
    Matrix share(most_keys, lanes), slope(most_keys, lanes);
    Matrix dq(lanes, p.d), dk(p.S, p.d), dv(p.S, p.e);
    DropoutFactors factors(dropout, p, most_keys);
    Queries queries;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t b = i / p.H, h = i % p.H;
      keys.read(in.k + p.k.at(b, h), p.k.row_step, p.S, p.d);
      const bool finite_keys = keys.finite();
      dk.fill(0);
      dv.fill(0);
      each_queries(p, visible, b, queries, [&] {
        const std::int64_t seen = queries.keys();
        const Real* head_gy = gy.data() + p.y.at(b, h) + queries.first * p.y.row_step;
        const Real* head_q = in.q + p.q.at(b, h) + queries.first * p.q.row_step;
        query.read(head_q, p.q.row_step, queries.count, p.d);
        above.read(head_gy, p.y.row_step, queries.count, p.e);
        above_transposed.read_transposed(head_gy, p.y.row_step, queries.count, p.e);
        if (factors.on()) factors.draw(i, queries);

        const Real* weights = kept.rows(i, queries);
        if (!kept.weights()) {
          query_transposed.read_transposed(head_q, p.q.row_step, queries.count, p.d, p.scale);
          score(p, visible, queries, b, h, in.k, query_transposed, share);
          with_packs(lanes, [&](auto packs) { weights_again<packs>(share.row(0), seen, weights, weights + lanes); });
          weights = share.row(0);
        }
        product(seen, {in.v + p.v.at(b, h) + queries.begin * p.v.row_step, p.v.row_step, 1},
                above_transposed.rows_from(0), slope.rows_from(0), Into::replace, [&](std::int64_t from, std::int64_t) {
                  return Extent{0, p.e, first_column(visible, queries, from)};
                });
        with_packs(lanes, [&](auto packs) {
          score_gradients_of<packs>(weights, factors.on() ? factors.row(0) : nullptr, seen,
                                    score_gradients ? 1 : p.scale, slope.row(0), share.row(0));
        });
        if (score_gradients) {
          for (std::int64_t t = 0; t < queries.count; ++t) {
            Real* to = score_gradients + (i * p.T + queries.first + t) * p.S + queries.begin;
            for (std::int64_t s = 0; s < seen; ++s) to[s] = slope.row(s)[t];
          }
          for (std::int64_t j = 0; j < seen * lanes; j += pack_width) {
            (Pack::load(slope.row(0) + j) * p.scale).store(slope.row(0) + j);
          }
        }

        const Rows head_keys = keys.rows_from(queries.begin);
        if (finite_keys) {
          product(queries.count, slope.left_transposed(), head_keys, dq.rows_from(0), Into::replace,
                  [&](std::int64_t, std::int64_t to) {
                    return Extent{0, keys_before(visible, queries, to), 0};
                  });
        } else {
          careful_product(queries.count, seen, slope.left_transposed(), head_keys, dq.rows_from(0), Into::replace);
        }
        const auto seeing = [&](std::int64_t from, std::int64_t) {
          return Extent{first_query(visible, queries, from), queries.count, 0};
        };
        const auto add = [&](const Matrix& left, const Matrix& right, Matrix& sums) {
          const Rows to = sums.rows_from(queries.begin);
          if (right.finite()) {
            product(seen, left.left(), right.rows_from(0), to, Into::add, seeing);
          } else {
            careful_product(seen, queries.count, left.left(), right.rows_from(0), to, Into::add);
          }
        };
        add(slope, query, dk);
        add(share, above, dv);
        dq.write(out.q + p.q.at(b, h) + queries.first * p.q.row_step, p.q.row_step, queries.count, p.d);
      });
      dk.write(out.k + p.k.at(b, h), p.k.row_step, p.S, p.d);
      dv.write(out.v + p.v.at(b, h), p.v.row_step, p.S, p.e);
    }
  });
}

// ---- The composed form --------------------------------------------------------------------------------------------

// The value of f() without its graph.
template <class F>
Array value_of(const F& f) {
  const NoGrad off;
  return f().value();
}

// careful_product over leading axes.
Array careful_products(const Array& a, const Array& b, bool transpose_a) {
  const std::int64_t columns = b.dim(-1), depth = b.dim(-2), rows = a.dim(transpose_a ? -1 : -2);
  Shape shape = b.shape();
  shape[b.rank() - 2] = rows;
  Array y(shape);
  Matrix right(depth, columns), to(rows, columns);
  for (std::int64_t i = 0; i < b.size() / std::max<std::int64_t>(depth * columns, 1); ++i) {
    const Real* left = a.data() + i * rows * depth;
    right.read(b.data() + i * depth * columns, columns, depth, columns);
    careful_product(rows, depth, transpose_a ? Left{left, 1, rows} : Left{left, depth, 1}, right.rows_from(0),
                    to.rows_from(0), Into::replace);
    to.write(y.mutable_data() + i * rows * columns, columns, rows, columns);
  }
  return y;
}

Tensor inner_products(const Tensor& a, const Tensor& b);

// a b or a^T b, for weights or their gradients a: what a 0 stands for takes no part, NaN and infinities included, here
// and in all gradients.
Tensor weighted_product(const Tensor& a, const Tensor& b, bool transpose_a) {
  Array y = all_finite(b.value().data(), b.size())
                ? value_of([&] { return matmul(a, b, {.transpose_a = transpose_a}); })
                : careful_products(a.value(), b.value(), transpose_a);
  return record("matmul", std::move(y),
                wrt(a, [b = kept(b), transpose_a](
                           const Tensor& gy) { return transpose_a ? inner_products(b, gy) : inner_products(gy, b); }),
                wrt(b, [a = kept(a), transpose_a](const Tensor& gy) { return weighted_product(a, gy, !transpose_a); }));
}

// a b^T
Tensor inner_products(const Tensor& a, const Tensor& b) {
  return record("matmul", value_of([&] { return matmul(a, b, {.transpose_b = true}); }),
                wrt(a, [b = kept(b)](const Tensor& gy) { return weighted_product(gy, b, false); }),
                wrt(b, [a = kept(a)](const Tensor& gy) { return weighted_product(gy, a, true); }));
}

// (B, T, H d) or (..., T, d) -> (B, H, T, d).
Tensor as_heads(const Tensor& x, const Problem& p, std::int64_t rows, std::int64_t columns, bool side_by_side) {
  if (!side_by_side) return reshape(x, {p.B, p.H, rows, columns});
  return transpose(reshape(x, {p.B, rows, p.H, columns}), 1, 2);
}

Tensor composed_weights(const Tensor& q, const Tensor& k, const Tensor& bias, const Problem& p,
                        const std::optional<Mask>& blocked) {
  Tensor scores = inner_products(q * p.scale, k);  // (B, H, T, S)
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
    const Tensor y = weighted_sum(weights, as_heads(v, p, p.S, p.e, side_by_side));  // (B, H, T, e)
    return reshape(side_by_side ? transpose(y, 1, 2) : y, p.y_shape);
  }
};

// The operation on `inputs`: q, k, v and perhaps bias, or qkv and perhaps bias. `composed` is its form in other
// operations, `operands` says where q, k and v begin in arrays like the inputs.
template <std::size_t N, class Composed, class Pointers>
Tensor attend(const Call& call, const std::array<Tensor, N>& inputs, bool has_bias, const Composed& composed,
              const Pointers& operands) {
  const auto read = [operands](const std::array<Tensor, N>& xs) {
    std::array<const Real*, N> data{};
    for (std::size_t i = 0; i < N; ++i) data[i] = xs[i].value().data();
    return operands(data);
  };
  const bool keep =
      recording() && std::ranges::any_of(inputs, [](const Tensor& input) { return input.requires_grad(); });
  const bool empty = call.problem.y_shape.numel() == 0;
  std::optional<Kept> kept;
  if (keep && !empty) kept.emplace(call.problem);
  Array y = empty ? Array(call.problem.y_shape)
                  : forward(call.problem, read(inputs), call.visible, call.dropout, kept ? &*kept : nullptr);
  if (!keep) return Tensor(std::move(y));
  auto rule = [call, inputs, has_bias, composed, operands, read, kept = std::move(kept)](const Tensor& gy,
                                                                                         Wanted wanted) {
    if (recording()) return composed_gradients(inputs, gy, wanted, composed);
    std::array<Tensor, N> gradients;
    std::array<Real*, N> to{};
    const std::size_t operand_count = N - (has_bias ? 1 : 0);
    for (std::size_t i = 0; i < operand_count; ++i) {
      Array gradient = kept ? Array(inputs[i].shape()) : Array(inputs[i].shape(), Real(0));
      to[i] = gradient.mutable_data();
      gradients[i] = Tensor(std::move(gradient));
    }
    Array scores;
    if (has_bias && wanted[N - 1]) scores = Array(call.problem.weights_shape(), Real(0));
    if (kept) {
      backward(call.problem, gy.value(), read(inputs), operands(to), *kept, call.visible, call.dropout,
               scores.size() > 0 ? scores.mutable_data() : nullptr);
    }
    if (has_bias && wanted[N - 1]) gradients[N - 1] = sum_to(Tensor(std::move(scores)), inputs[N - 1].shape());
    return gradients;
  };
  return std::apply(
      [&](const auto&... each) { return record("attention", std::move(y), jointly(std::move(rule), each...)); },
      inputs);
}

Tensor attend(const Call& call, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& bias) {
  const auto operands = []<class Number, std::size_t N>(const std::array<Number*, N>& data) {
    return Operands<Number>{data[0], data[1], data[2]};
  };
  if (!bias.defined()) {
    return attend(
        call, std::array{q, k, v}, false,
        [call](const Tensor& a, const Tensor& b, const Tensor& c) { return call.composed(a, b, c, Tensor()); },
        operands);
  }
  return attend(
      call, std::array{q, k, v, bias}, true,
      [call](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& added) {
        return call.composed(a, b, c, added);
      },
      operands);
}

// Queries, keys and values side by side in the rows of qkv.
Tensor attend_packed(const Call& call, const Tensor& qkv, const Tensor& bias) {
  const std::int64_t width = qkv.dim(2) / 3;
  const auto operands = [width]<class Number, std::size_t N>(const std::array<Number*, N>& data) {
    return Operands<Number>{data[0], data[0] + width, data[0] + 2 * width};
  };
  const auto composed = [call, width](const Tensor& x, const Tensor& added) {
    return call.composed(narrow(x, 2, 0, width), narrow(x, 2, width, width), narrow(x, 2, 2 * width, width), added);
  };
  if (!bias.defined()) {
    return attend(
        call, std::array{qkv}, false, [composed](const Tensor& x) { return composed(x, Tensor()); }, operands);
  }
  return attend(call, std::array{qkv, bias}, true, composed, operands);
}

WeightDropout checked_dropout(const char* op, const AttentionOptions& options) {
  if (!(options.dropout >= 0 && options.dropout <= 1)) {
    fail<ValueError>(op, "dropout ", options.dropout, " is not in [0, 1]");
  }
  if (options.dropout == 0) return WeightDropout(0, RandomKey{});
  return WeightDropout(options.dropout, options.key ? *options.key : next_random_key());
}

Real scale_for(const char* op, const AttentionOptions& options, std::int64_t d) {
  if (!options.scale) return 1 / std::sqrt(static_cast<Real>(std::max<std::int64_t>(d, 1)));
  if (!std::isfinite(*options.scale)) fail<ValueError>(op, "scale ", *options.scale, " is not finite");
  return *options.scale;
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
          .scale = scale_for(op, options, d)};
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
          .scale = scale_for(op, options, d)};
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

Tensor multi_head_attention(const Tensor& qkv, std::int64_t heads, const AttentionOptions& options) {
  constexpr const char* op = "multi_head_attention";
  if (qkv.rank() != 3) fail<ShapeError>(op, "needs three axes (batch, positions, width), got ", qkv.shape());
  if (heads < 1) fail<ValueError>(op, "heads ", heads, " is not positive");
  if (qkv.dim(2) % 3 != 0 || qkv.dim(2) / 3 % heads != 0) {
    fail<ValueError>(op, "width ", qkv.dim(2), " is not divisible by queries, keys and values of ", heads, " heads");
  }
  const std::int64_t B = qkv.dim(0), T = qkv.dim(1), C = qkv.dim(2) / 3, d = C / heads;
  const Layout part{T * 3 * C, d, 3 * C};
  const Problem problem{.B = B,
                        .H = heads,
                        .T = T,
                        .S = T,
                        .d = d,
                        .e = d,
                        .q = part,
                        .k = part,
                        .v = part,
                        .y = {T * C, d, C},
                        .y_shape = {B, T, C},
                        .scale = scale_for(op, options, d)};
  const Visible visible(op, options.mask, problem);
  return attend_packed({problem, visible, checked_dropout(op, options), true}, qkv, options.mask.bias);
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
  return record("blocked_softmax", value_of([&] { return softmax(where(blocked, -infinity, x)); }),
                wrt(x, [](const Tensor& gy, const Tensor& y) {
                  // What has no weight has no gradient, whatever comes from above.
                  const Tensor above = where(y == 0, 0, gy);
                  return where(y == 0, 0, y * (above - sum(above * y, {.axis = -1, .keepdim = true})));
                }));
}

Tensor weighted_sum(const Tensor& weights, const Tensor& x) {
  const auto fits = [&] {
    if (weights.rank() < 2 || weights.rank() != x.rank() || weights.dim(-1) != x.dim(-2)) return false;
    return std::equal(weights.shape().begin(), weights.shape().end() - 2, x.shape().begin());
  };
  if (!fits()) fail<ShapeError>("weighted_sum", "weights ", weights.shape(), " do not fit ", x.shape());
  return weighted_product(weights, x, false);
}

}  // namespace xgrad
