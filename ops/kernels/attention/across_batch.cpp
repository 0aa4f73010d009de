// Heads whose columns fill registers together are transposed together, then taken one by one.
#include "attention_ways.h"

#include <algorithm>
#include <type_traits>

#include "../../../core/array/array.h"
#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../products/packing.h"
#include "../registers/multiply_add.h"
#include "attention_weights.h"

namespace xgrad::detail {
namespace {

// The number of neighbouring heads that are transposed together.
std::int64_t heads_together(const AttentionSizes& p) { return std::max<std::int64_t>(pack_width / p.d, 1); }

std::int64_t blocks_of(std::int64_t batches) { return padded(batches) / pack_width; }

// Some heads of the sequences in a block of batches: rows of packs, a pack for each column.
class HeadRows {
 public:
  HeadRows(std::int64_t rows, std::int64_t columns)
      : rows_(rows), stride_(columns * pack_width), elements_(Shape{rows * stride_}), data_(elements_.mutable_data()) {}

  Real* head(std::int64_t column) { return data_ + column * pack_width; }
  const Real* head(std::int64_t column) const { return data_ + column * pack_width; }
  std::int64_t stride() const { return stride_; }
  bool finite() const { return all_finite(data_, rows_ * stride_); }

  void read(const Real* from, const HeadLayout& layout, std::int64_t batches) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      pack_transposed(from + i * layout.row_stride, layout.batch_stride, batches, stride_ / pack_width,
                      data_ + i * stride_, pack_width, pack_width);
    }
  }
  void write(Real* to, const HeadLayout& layout, std::int64_t batches) const {
    for (std::int64_t i = 0; i < rows_; ++i) {
      transpose_rows(to + i * layout.row_stride, layout.batch_stride, data_ + i * stride_, pack_width, batches,
                     stride_ / pack_width);
    }
  }
  void scale(Real factor) {
    for (std::int64_t i = 0; i < rows_ * stride_; i += pack_width) (Pack::load(data_ + i) * factor).store(data_ + i);
  }

 private:
  std::int64_t rows_, stride_;
  Array elements_;
  Real* data_;
};

// to[i] = x . rows[i], of d columns.
void dot_rows(const Real* x, const Real* rows, std::int64_t stride, std::int64_t count, std::int64_t d, Real* to) {
  const auto dot = [&]<int together>(std::integral_constant<int, together>, std::int64_t first) {
    Pack sum[together];
    for (std::int64_t j = 0; j < d * pack_width; j += pack_width) {
      const Pack factor = Pack::load(x + j);
      XGRAD_UNROLL
      for (int i = 0; i < together; ++i) {
        sum[i] = multiply_add(factor, Pack::load(rows + (first + i) * stride + j), sum[i]);
      }
    }
    for (int i = 0; i < together; ++i) sum[i].store(to + (first + i) * pack_width);
  };
  constexpr int at_once = 4;  // each sum waits for its own last step
  std::int64_t i = 0;
  for (; i + at_once <= count; i += at_once) dot(std::integral_constant<int, at_once>(), i);
  for (; i < count; ++i) dot(std::integral_constant<int, 1>(), i);
}

// to = the sum of factors[i] rows[i], of d columns. Factors of 0 (masked keys) are skipped if rows are not finite.
template <bool finite>
void combine_rows(const Real* factors, std::int64_t factor_stride, const Real* rows, std::int64_t stride,
                  std::int64_t count, std::int64_t d, Real* to) {
  std::int64_t column = 0;
  const auto combine = [&]<int columns>(std::integral_constant<int, columns>) {
    for (; column + columns <= d; column += columns) {
      const std::int64_t j = column * pack_width;
      Pack sum[columns];
      for (std::int64_t i = 0; i < count; ++i) {
        const Pack factor = Pack::load(factors + i * factor_stride);
        XGRAD_UNROLL
        for (int c = 0; c < columns; ++c) {
          const Pack more = multiply_add(factor, Pack::load(rows + i * stride + j + c * pack_width), sum[c]);
          sum[c] = finite ? more : where(factor == 0, sum[c], more);
        }
      }
      for (int c = 0; c < columns; ++c) sum[c].store(to + j + c * pack_width);
    }
  };
  combine(std::integral_constant<int, 8>());
  combine(std::integral_constant<int, 4>());
  combine(std::integral_constant<int, 2>());
  combine(std::integral_constant<int, 1>());
}

using Combine = void (*)(const Real*, std::int64_t, const Real*, std::int64_t, std::int64_t, std::int64_t, Real*);
Combine combination_of(const HeadRows& rows) { return rows.finite() ? combine_rows<true> : combine_rows<false>; }

// The keys that query t attends to in any sequence of a block, and their end in each sequence.
class VisibleKeys {
 public:
  VisibleKeys(const KeyRanges& ranges, std::int64_t first, std::int64_t batches)
      : ranges_(ranges), common_(ranges), first_(first), batches_(batches) {
    common_.lengths = nullptr;
    std::fill(ends_, ends_ + pack_width, Real(0));
  }
  void look(std::int64_t t) {
    begin = ranges_.begin(t);
    end = std::max(begin, common_.end(0, t));
    if (!ranges_.lengths) return;
    std::int64_t last = begin;
    for (std::int64_t i = 0; i < batches_; ++i) {
      const std::int64_t at = ranges_.end(first_ + i, t);
      ends_[i] = static_cast<Real>(at);
      last = std::max(last, at);
    }
    end = last;
  }
  // Scores of the keys that a sequence does not see become -inf.
  void mask(Real* scores) const {
    if (!ranges_.lengths) return;
    const Pack ends = Pack::load(ends_);
    for (std::int64_t s = begin; s < end; ++s, scores += pack_width) {
      where(Pack(s) < ends, Pack::load(scores), -infinity).store(scores);
    }
  }
  // Sets the entries of all other keys, in rows for all keys, to 0.
  void clear_others(Real* rows) const {
    std::fill(rows, rows + begin * pack_width, Real(0));
    std::fill(rows + end * pack_width, rows + ranges_.S * pack_width, Real(0));
  }

  std::int64_t begin = 0, end = 0;

 private:
  const KeyRanges& ranges_;
  KeyRanges common_;
  std::int64_t first_, batches_;
  Real ends_[Pack::width];
};

// Calls f(first batch, batches, first head, worker) for each block of batches and some heads; workers are made by
// `make`, one for each part of the loop.
template <class Make, class F>
void each_block(const AttentionSizes& p, const Make& make, const F& f) {
  const std::int64_t together = heads_together(p), groups = p.H / together;
  parallel_for(blocks_of(p.B) * groups, 1, [&](std::int64_t begin, std::int64_t end) {
    auto worker = make();
    for (std::int64_t job = begin; job < end; ++job) {
      const std::int64_t first = job / groups * pack_width;
      f(first, std::min(pack_width, p.B - first), job % groups * together, worker);
    }
  });
}

// The weights of a head in a block of batches: T rows of S packs.
std::int64_t weights_at(const AttentionSizes& p, std::int64_t first_batch, std::int64_t head) {
  return (first_batch * p.H + head * pack_width) * p.T * p.S;
}

}  // namespace

bool fits_across_batch(const AttentionSizes& p, const KeyRanges& ranges) {
  const bool plain = p.group == 1 && !ranges.masked && !ranges.bias;
  const bool side_by_side = p.d == p.e && p.d > 0 && p.q.head_stride == p.d && p.k.head_stride == p.d &&
                            p.v.head_stride == p.d && p.y.head_stride == p.d;
  if (!plain || !side_by_side) return false;
  const bool full_packs = p.d % pack_width == 0 || (pack_width % p.d == 0 && p.H % heads_together(p) == 0);
  constexpr std::int64_t most_keys = 32;  // then the weights are saved
  if (!full_packs || p.T < 2 || p.T >= 2 * pack_width || p.S > most_keys) return false;
  // At least 5/4 times as many lanes must be in use. Long rows of packs leave the first-level cache,
  // which costs as much as that gains, except under a causal mask, half of whose scores are not computed here.
  constexpr std::int64_t most_packs = 700;
  return p.B * padded(p.T) * 4 >= padded(p.B) * p.T * 5 &&
         (ranges.causal || p.S <= pack_width || (p.T + p.S) * p.d <= most_packs);
}

void forward_across_batch(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
                          Real* y, Real* weights) {
  XGRAD_ASSERT(fits_across_batch(p, ranges));
  struct Worker {
    HeadRows q, k, v, out;
    Array scores;
  };
  const std::int64_t columns = heads_together(p) * p.d;
  const auto make = [&] {
    return Worker{{p.T, columns}, {p.S, columns}, {p.S, columns}, {p.T, columns}, Array(Shape{p.S * pack_width})};
  };
  each_block(p, make, [&](std::int64_t b, std::int64_t batches, std::int64_t h, Worker& at) {
    at.q.read(in.q + p.q.at(b, h), p.q, batches);
    at.k.read(in.k + p.k.at(b, h), p.k, batches);
    at.v.read(in.v + p.v.at(b, h), p.v, batches);
    at.q.scale(p.scale);
    const Combine combine = combination_of(at.v);
    Real* const scores = at.scores.mutable_data();
    VisibleKeys visible(ranges, b, batches);
    for (std::int64_t column = 0; column < columns; column += p.d) {
      Real* saved = weights ? weights + weights_at(p, b, h + column / p.d) : nullptr;
      for (std::int64_t t = 0; t < p.T; ++t) {
        visible.look(t);
        const std::int64_t keys = visible.end - visible.begin;
        dot_rows(at.q.head(column) + t * at.q.stride(), at.k.head(column) + visible.begin * at.k.stride(),
                 at.k.stride(), keys, p.d, scores);
        visible.mask(scores);
        Real maximum[Pack::width], inverse_sum[Pack::width];
        powers_of<1>(scores, keys, maximum, inverse_sum);
        weights_of<1>(scores, keys, inverse_sum, nullptr, saved ? saved + visible.begin * pack_width : nullptr);
        combine(scores, pack_width, at.v.head(column) + visible.begin * at.v.stride(), at.v.stride(), keys, p.d,
                at.out.head(column) + t * at.out.stride());
        if (!saved) continue;
        visible.clear_others(saved);
        saved += p.S * pack_width;
      }
    }
    at.out.write(y + p.y.at(b, h), p.y, batches);
  });
}

void backward_across_batch(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
                           const AttentionOperands<Real>& out, const Real* weights, const KeyRanges& ranges) {
  XGRAD_ASSERT(fits_across_batch(p, ranges));
  struct Worker {
    HeadRows q, k, v, above, dq, dk, dv;
    Array slopes;
  };
  const std::int64_t columns = heads_together(p) * p.d, row = p.S * pack_width;
  const auto make = [&] {
    const auto queries = [&] { return HeadRows(p.T, columns); };
    const auto keys = [&] { return HeadRows(p.S, columns); };
    return Worker{queries(), keys(), keys(), queries(), queries(), keys(), keys(), Array(Shape{p.T * row})};
  };
  each_block(p, make, [&](std::int64_t b, std::int64_t batches, std::int64_t h, Worker& at) {
    at.q.read(in.q + p.q.at(b, h), p.q, batches);
    at.k.read(in.k + p.k.at(b, h), p.k, batches);
    at.v.read(in.v + p.v.at(b, h), p.v, batches);
    at.above.read(gy + p.y.at(b, h), p.y, batches);
    const Combine of_queries = combination_of(at.q), of_keys = combination_of(at.k),
                  of_above = combination_of(at.above);
    Real* const slopes = at.slopes.mutable_data();
    VisibleKeys visible(ranges, b, batches);
    for (std::int64_t column = 0; column < columns; column += p.d) {
      const Real* const saved = weights + weights_at(p, b, h + column / p.d);
      for (std::int64_t t = 0; t < p.T; ++t) {
        visible.look(t);
        const std::int64_t keys = visible.end - visible.begin;
        Real* const slope = slopes + t * row + visible.begin * pack_width;
        dot_rows(at.above.head(column) + t * at.above.stride(), at.v.head(column) + visible.begin * at.v.stride(),
                 at.v.stride(), keys, p.d, slope);
        score_gradients_of<1>(saved + t * row + visible.begin * pack_width, nullptr, keys, p.scale, slope, nullptr);
        of_keys(slope, pack_width, at.k.head(column) + visible.begin * at.k.stride(), at.k.stride(), keys, p.d,
                at.dq.head(column) + t * at.dq.stride());
        visible.clear_others(slopes + t * row);
      }
      for (std::int64_t s = 0; s < p.S; ++s) {
        const std::int64_t first = ranges.causal ? std::min(s, p.T) : 0;  // no query before sees this key
        const std::int64_t at_key = first * row + s * pack_width;
        of_queries(slopes + at_key, row, at.q.head(column) + first * at.q.stride(), at.q.stride(), p.T - first, p.d,
                   at.dk.head(column) + s * at.dk.stride());
        of_above(saved + at_key, row, at.above.head(column) + first * at.above.stride(), at.above.stride(), p.T - first,
                 p.d, at.dv.head(column) + s * at.dv.stride());
      }
    }
    at.dq.write(out.q + p.q.at(b, h), p.q, batches);
    at.dk.write(out.k + p.k.at(b, h), p.k, batches);
    at.dv.write(out.v + p.v.at(b, h), p.v, batches);
  });
}

}  // namespace xgrad::detail
