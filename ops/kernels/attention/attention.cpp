// Matrices are small here (a head has 8 to 64 columns), so that the products are done by a register-blocked loop of our
// own on padded copies of one head, instead of many calls of a BLAS. Sequences may be long: scores exist for some
// queries at a time only (Dao et al., "FlashAttention", 2022).
#include "attention.h"

#include <algorithm>
#include <span>
#include <vector>

#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../network/dropout.h"
#include "attention_products.h"
#include "attention_ways.h"
#include "attention_weights.h"

namespace xgrad {
namespace {

// ---- One head -----------------------------------------------------------------------------------------------------

std::int64_t heads_at_a_time(const AttentionSizes& p) {
  std::int64_t heads = std::int64_t{1} << 16;
  for (const std::int64_t size : {p.T, p.S, p.d + p.e}) heads /= std::max<std::int64_t>(size, 1);
  return std::max<std::int64_t>(heads, 1);
}

// The queries of a head in parts, so that few heads are work for all threads.
class QueryParts {
 public:
  QueryParts(const AttentionSizes& p, std::int64_t count, std::int64_t least_queries)
      : blocks_((p.T + queries_at_a_time(p) - 1) / queries_at_a_time(p)),
        count_(std::clamp<std::int64_t>(count, 1, std::max<std::int64_t>(p.T / least_queries, 1))) {}
  std::int64_t count() const { return count_; }
  // The first of the blocks of queries of a part; the end of the one before.
  std::int64_t first(std::int64_t part) const { return blocks_ * part / count_; }

 private:
  std::int64_t blocks_, count_;
};

// Calls f for the queries of batch b in a part, some at a time.
void each_queries(const AttentionSizes& p, const KeyRanges& ranges, std::int64_t b, const QueryParts& parts,
                  std::int64_t part, Queries& queries, const auto& f) {
  const std::int64_t lanes = queries_at_a_time(p), end = std::min(p.T, parts.first(part + 1) * lanes);
  if (queries.limits.size() != lanes) queries.starts = queries.limits = Array(Shape{lanes});
  for (queries.first = parts.first(part) * lanes; queries.first < end; queries.first += lanes) {
    queries.count = std::min(lanes, p.T - queries.first);
    queries.begin = queries.all_to = p.S;
    queries.end = queries.all_from = 0;
    Real* starts = queries.starts.mutable_data();
    Real* limits = queries.limits.mutable_data();
    for (std::int64_t i = 0; i < queries.count; ++i) {
      const std::int64_t limit = ranges.end(b, queries.first + i), start = ranges.begin(queries.first + i);
      starts[i] = static_cast<Real>(start);
      limits[i] = static_cast<Real>(limit);
      queries.all_from = std::max(queries.all_from, start);
      queries.all_to = std::min(queries.all_to, limit);
      if (start >= limit) continue;  // sees no key, so that its range is ignored
      queries.begin = std::min(queries.begin, start);
      queries.end = std::max(queries.end, limit);
    }
    queries.begin = std::min(queries.begin, queries.end);  // 0 if none of them sees a key
    // Unused lanes see the keys of the last query, so that their numbers stay finite.
    std::fill(starts + queries.count, starts + lanes, starts[queries.count - 1]);
    std::fill(limits + queries.count, limits + lanes, limits[queries.count - 1]);
    f();
  }
}

// Scores of keys that are masked by their position become -inf.
void mask_scores(const MatrixRows& scores, const Queries& queries) {
  const auto rows = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t s = from; s < to; ++s) {
      for (std::int64_t j = 0; j < scores.stride(); j += pack_width) {
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

// The dropout factors of the weights, 0 or 1/(1 - p), in the order of the scores.
class DropoutFactors {
 public:
  DropoutFactors(const WeightDropout& dropout, const AttentionSizes& p, std::int64_t most_keys)
      : dropout_(dropout), T_(p.T), S_(p.S), factors_(dropout.on() ? most_keys : 0, queries_at_a_time(p)) {
    factors_.fill(0);
    if (on()) words_.resize(static_cast<std::size_t>(std::max<std::int64_t>(p.S, 1024)));
  }
  bool on() const { return dropout_.on(); }
  void draw(std::int64_t head, const Queries& queries) {
    const std::uint32_t threshold = dropout_threshold(dropout_.p);
    const Real keep = dropout_.p < 1 ? static_cast<Real>(1 / (1 - dropout_.p)) : 0;
    for (std::int64_t i = 0; i < queries.count; ++i) {
      const std::uint32_t* words = words_from((head * T_ + queries.first + i) * S_ + queries.begin, queries.keys());
      for (std::int64_t s = 0; s < queries.keys(); ++s) factors_.row(s)[i] = words[s] >= threshold ? keep : 0;
    }
  }
  const Real* row(std::int64_t key) const { return factors_.row(key); }

 private:
  // Words first ... first + count - 1, which are drawn many at a time.
  const std::uint32_t* words_from(std::int64_t first, std::int64_t count) {
    if (first < first_ || first + count > end_) {
      first_ = first;
      end_ = first + std::ssize(words_);
      random_words(dropout_.key, static_cast<std::uint64_t>(first), words_);
    }
    return words_.data() + (first - first_);
  }

  WeightDropout dropout_;
  std::int64_t T_, S_, first_ = 0, end_ = 0;
  std::vector<std::uint32_t, PoolAllocator<std::uint32_t>> words_;
  Matrix factors_;
};

// Calls f(score, element) for the scores of some queries and the elements of x (B, H, T, S) that belong to them.
template <class T, class F>
void each_score(const Queries& queries, std::int64_t b, std::int64_t h, const T* x,
                const ShortList<std::int64_t>& strides, const MatrixRows& scores, const F& f) {
  if (!x) return;
  x += b * strides[0] + h * strides[1] + queries.first * strides[2] + queries.begin * strides[3];
  for (std::int64_t s = 0; s < queries.keys(); ++s, x += strides[3]) {
    for (std::int64_t i = 0; i < queries.count; ++i) f(scores.row(s)[i], x[i * strides[2]]);
  }
}

// Adds the bias to the scores of some queries, and puts -inf where a key is masked; the first row is that of their
// first key.
void finish_scores(const KeyRanges& ranges, const Queries& queries, std::int64_t b, std::int64_t h,
                   const MatrixRows& scores) {
  each_score(queries, b, h, ranges.bias, ranges.bias_strides, scores, [](Real& score, Real bias) { score += bias; });
  each_score(queries, b, h, ranges.masked, ranges.masked_strides, scores, [](Real& score, bool masked) {
    if (masked) score = -infinity;
  });
  mask_scores(scores, queries);
}

// ---- All heads ------------------------------------------------------------------------------------------------------

void forward(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
             const WeightDropout& dropout, Real* y, SavedAttention* saved) {
  const std::int64_t lanes = queries_at_a_time(p), most_keys = ranges.most_keys(lanes);
  // Also where a graph keeps the weights: a model gives the same numbers in training as without a graph.
  const bool alone = !dropout.on() && detail::has_one_query(p, ranges);
  // Queries do not depend on each other, so the number of parts changes no bit. Under a causal mask parts are unequal.
  constexpr std::int64_t least_queries = 64;
  const QueryParts parts(p, p.B * p.H < threads() ? 4 * threads() : 1, least_queries);
  parallel_for(p.B * p.H * parts.count(), heads_at_a_time(p), [&](std::int64_t first, std::int64_t last) {
    ForwardProducts products(p, ranges);
    Matrix weights(most_keys, lanes);
    DropoutFactors factors(dropout, p, most_keys);
    Queries queries;
    Real sums[4 * Pack::width];  // maxima and inverse sums, not saved
    for (std::int64_t job = first; job < last; ++job) {
      const std::int64_t i = job / parts.count(), b = i / p.H, h = i % p.H;
      if (alone) {
        Real* const powers = weights.row(0);
        if (const auto inverse_sum = detail::one_query(p, in, ranges, b, h, powers, y + p.y.at(b, h))) {
          const std::int64_t keys = ranges.end(b, 0) - ranges.begin(0);
          for (std::int64_t s = 0; saved && s < keys; ++s) {
            std::fill_n(saved->rows(i, 0) + s * lanes, lanes, powers[s] * *inverse_sum);  // in every lane
          }
          continue;
        }
      }
      products.take_head(in.k + p.k_at(b, h), in.v + p.v_at(b, h));
      each_queries(p, ranges, b, parts, job % parts.count(), queries, [&] {
        const MatrixRows scores = weights.rows_from(0);
        products.scores(queries, in.q + p.q.at(b, h) + queries.first * p.q.row_stride, scores);
        finish_scores(ranges, queries, b, h, scores);
        if (factors.on()) factors.draw(i, queries);
        Real* to = saved ? saved->rows(i, queries.first) : nullptr;
        Real* maximum = to && !saved->weights() ? to : sums;
        Real* inverse_sum = maximum + lanes;
        with_packs(lanes, [&](auto packs) {
          powers_of<packs>(scores.row(0), queries.keys(), maximum, inverse_sum);
          weights_of<packs>(scores.row(0), queries.keys(), inverse_sum, factors.on() ? factors.row(0) : nullptr,
                            to && saved->weights() ? to : nullptr);
        });
        products.weighted_sum(queries, weights, y + p.y.at(b, h) + queries.first * p.y.row_stride);
      });
    }
  });
}

// The gradients of keys and values, side by side in rows, are summed over the parts of each group of heads.
void add_parts(const AttentionSizes& p, std::int64_t parts, const Real* sums, const AttentionOperands<Real>& out) {
  const std::int64_t width = p.d + p.e, heads = p.H / p.group;
  parallel_for(p.B * heads * p.S, rows_per_block(width * parts), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t group = row / p.S, s = row % p.S, b = group / heads, h = group % heads;
      const Real* const from = sums + (group * parts * p.S + s) * width;
      const auto add = [&](const Real* first, Real* to, std::int64_t count) {
        for (std::int64_t j = 0; j < count; ++j) {
          Real sum = first[j];
          for (std::int64_t part = 1; part < parts; ++part) sum += first[part * p.S * width + j];
          to[j] = sum;
        }
      };
      add(from, out.k + p.k.at(b, h) + s * p.k.row_stride, p.d);
      add(from + p.d, out.v + p.v.at(b, h) + s * p.v.row_stride, p.e);
    }
  });
}

void backward(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
              const AttentionOperands<Real>& out, const SavedAttention& saved, const KeyRanges& ranges,
              const WeightDropout& dropout, Real* score_gradients) {
  const std::int64_t lanes = queries_at_a_time(p), most_keys = ranges.most_keys(lanes);
  // A group of heads together: the gradients of its keys and values are sums, over the queries of a part first.
  const std::int64_t groups = p.B * p.H / p.group, at_a_time = std::max<std::int64_t>(heads_at_a_time(p) / p.group, 1);
  constexpr std::int64_t most_parts = 4, least_queries = 256;  // each copies keys and values, and has its own sums
  const QueryParts parts(p, groups > 0 ? most_parts / groups : 1, least_queries);
  Array sums(Shape{parts.count() > 1 ? parts.count() * groups : 0, p.S, p.d + p.e});
  Real* const sum = sums.mutable_data();
  parallel_for(groups * parts.count(), at_a_time, [&](std::int64_t first, std::int64_t last) {
    BackwardProducts products(p, ranges, !saved.weights());
    // The weights, then after dropout; gradients of weights, then of scores.
    Matrix weight_rows(most_keys, lanes), slopes(most_keys, lanes);
    DropoutFactors factors(dropout, p, most_keys);
    Queries queries;
    for (std::int64_t job = first * p.group; job < last * p.group; ++job) {
      const std::int64_t part = job / p.group % parts.count(), group = job / p.group / parts.count();
      const std::int64_t i = group * p.group + job % p.group, b = i / p.H, h = i % p.H;
      if (h % p.group == 0) products.take_head(in.k + p.k_at(b, h), in.v + p.v_at(b, h));
      each_queries(p, ranges, b, parts, part, queries, [&] {
        const std::int64_t visible = queries.keys();
        const MatrixRows weight = weight_rows.rows_from(0), slope = slopes.rows_from(0);
        products.take_queries(queries, in.q + p.q.at(b, h) + queries.first * p.q.row_stride,
                              gy + p.y.at(b, h) + queries.first * p.y.row_stride);
        if (factors.on()) factors.draw(i, queries);

        const Real* weights = saved.rows(i, queries.first);
        if (!saved.weights()) {
          products.scores(queries, weight);
          finish_scores(ranges, queries, b, h, weight);
          with_packs(lanes,
                     [&](auto packs) { weights_again<packs>(weight.row(0), visible, weights, weights + lanes); });
          weights = weight.row(0);
        }
        products.weight_gradients(queries, slope);
        with_packs(lanes, [&](auto packs) {
          score_gradients_of<packs>(weights, factors.on() ? factors.row(0) : nullptr, visible,
                                    score_gradients ? 1 : p.scale, slope.row(0), weight.row(0));
        });
        if (score_gradients) {
          for (std::int64_t t = 0; t < queries.count; ++t) {
            Real* to = score_gradients + (i * p.T + queries.first + t) * p.S + queries.begin;
            for (std::int64_t s = 0; s < visible; ++s) to[s] = slope.row(s)[t];
          }
          for (std::int64_t j = 0; j < visible * lanes; j += pack_width) {
            (Pack::load(slope.row(0) + j) * p.scale).store(slope.row(0) + j);
          }
        }
        products.query_gradients(queries, slopes, out.q + p.q.at(b, h) + queries.first * p.q.row_stride);
        products.add_gradients(queries, slopes, weight_rows);
      });
      if ((h + 1) % p.group != 0) continue;
      if (parts.count() == 1) {
        products.write_gradients(out.k + p.k_at(b, h), p.k.row_stride, out.v + p.v_at(b, h), p.v.row_stride);
      } else {
        Real* const own = sum + job / p.group * p.S * (p.d + p.e);
        products.write_gradients(own, p.d + p.e, own + p.d, p.d + p.e);
      }
    }
  });
  if (parts.count() > 1) add_parts(p, parts.count(), sum, out);
}

}  // namespace

std::int64_t KeyRanges::begin(std::int64_t t) const { return band ? std::clamp<std::int64_t>(t - before, 0, S) : 0; }

std::int64_t KeyRanges::end(std::int64_t b, std::int64_t t) const {
  std::int64_t end = S;
  if (causal) end = std::min(end, t + 1);
  if (band) end = std::min(end, t + after + 1);
  if (lengths) end = std::min(end, lengths[length_per_query ? b * T + t : b]);
  return end;
}

std::int64_t KeyRanges::end(std::int64_t B) const {
  std::int64_t last = 0;
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t t = 0; t < T && last < S; ++t) last = std::max(last, end(b, t));
  }
  return last;
}

std::int64_t KeyRanges::most_keys(std::int64_t count) const {
  return band ? std::min(S, std::max<std::int64_t>(0, count + before + after)) : S;
}

SavedAttention::SavedAttention(const AttentionSizes& p)
    : lanes_(queries_at_a_time(p)), blocks_((p.T + lanes_ - 1) / lanes_) {
  XGRAD_ASSERT(p.T > 0);
  constexpr std::int64_t few_keys = 32;
  // Of one query scores that are computed again would not be the same to the last bit (one_query.cpp).
  weights_ = p.S <= few_keys || p.T == 1;
  rows_ = weights_ ? p.S : 2;
  elements_ = Array(Shape{p.B * p.H * blocks_ * rows_ * lanes_});
}

void attention_forward(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
                       const WeightDropout& dropout, Real* y, SavedAttention* saved) {
  XGRAD_ASSERT(p.B * p.H * p.T * p.e > 0);
  if (!dropout.on() && detail::fits_across_batch(p, ranges)) {
    return detail::forward_across_batch(p, in, ranges, y, saved ? saved->rows(0, 0) : nullptr);
  }
  forward(p, in, ranges, dropout, y, saved);
}

void attention_backward(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
                        const AttentionOperands<Real>& out, const SavedAttention& saved, const KeyRanges& ranges,
                        const WeightDropout& dropout, Real* score_gradients) {
  XGRAD_ASSERT(p.B * p.H * p.T * p.e > 0);
  if (!dropout.on() && detail::fits_across_batch(p, ranges)) {
    return detail::backward_across_batch(p, gy, in, out, saved.rows(0, 0), ranges);
  }
  backward(p, gy, in, out, saved, ranges, dropout, score_gradients);
}

Array products_skipping_zeros(const Array& a, const Array& b, LeftFactor left_factor) {
  const std::int64_t columns = b.dim(-1), depth = b.dim(-2),
                     rows = a.dim(left_factor == LeftFactor::transposed ? -1 : -2);
  Shape shape = b.shape();
  shape[b.rank() - 2] = rows;
  Array y(shape);
  Matrix right(depth, columns), to(rows, columns);
  for (std::int64_t i = 0; i < b.size() / std::max<std::int64_t>(depth * columns, 1); ++i) {
    const Real* left = a.data() + i * rows * depth;
    right.read(b.data() + i * depth * columns, columns, depth, columns);
    product_skipping_zeros(rows, depth,
                           left_factor == LeftFactor::transposed ? LeftRows{left, 1, rows} : LeftRows{left, depth, 1},
                           right.rows_from(0), to.rows_from(0), Into::replace);
    to.write(y.mutable_data() + i * rows * columns, columns, rows, columns);
  }
  return y;
}

}  // namespace xgrad
