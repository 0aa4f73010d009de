// The products of attention's two passes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../products/small_products.h"
#include "attention_sizes.h"

namespace xgrad::inline XGRAD_SIMD {

/// Some queries, one per lane. Scores are stored key by key, so that a softmax needs no horizontal operations.
struct Queries {
  std::int64_t first = 0, count = 0;  // the range of the queries
  std::int64_t begin = 0, end = 0;    // the keys that some of them see
  std::int64_t all_from = 0;          // [all_from, all_to): the keys that
  std::int64_t all_to = 0;            // all of them see
  Array starts, limits;               // of each query: keys outside of [start, limit) are masked

  std::int64_t keys() const { return end - begin; }
};

inline std::int64_t queries_at_a_time(const AttentionSizes& p) { return std::min(padded(p.T), 2 * pack_width); }

/// The first column of the queries that see keys i ..., rounded down to whole packs. Here and below keys count
/// from queries.begin.
inline std::int64_t first_column(const KeyRanges& ranges, const Queries& queries, std::int64_t key) {
  return ranges.causal ? std::clamp<std::int64_t>(queries.begin + key - queries.first, 0, queries.count - 1) /
                             pack_width * pack_width
                       : 0;
}
/// The first of these queries that sees key i, and the number of keys that queries below i see.
inline std::int64_t first_query(const KeyRanges& ranges, const Queries& queries, std::int64_t key) {
  return ranges.causal ? std::clamp<std::int64_t>(queries.begin + key - queries.first, 0, queries.count) : 0;
}
inline std::int64_t keys_before(const KeyRanges& ranges, const Queries& queries, std::int64_t query) {
  return ranges.causal ? std::clamp<std::int64_t>(queries.first + query - queries.begin, 0, queries.keys())
                       : queries.keys();
}

/// to = rows q' of the keys that these queries see; `rows` begins with the first of all keys, `transposed` is q'.
inline void products_with_keys(const KeyRanges& ranges, const Queries& queries, const Real* rows,
                               std::int64_t row_stride, const Matrix& transposed, std::int64_t depth,
                               const MatrixRows& to) {
  product(queries.keys(), {rows + queries.begin * row_stride, row_stride, 1}, transposed.rows_from(0), to,
          Into::replace, [&](std::int64_t from, std::int64_t) {
            return Extent{0, depth, first_column(ranges, queries, from)};
          });
}
/// y = weights' rows, by way of `sums`; `rows` begins with the first of all keys, and may be `finite`: all of them.
inline void sum_over_keys(const KeyRanges& ranges, const Queries& queries, const Matrix& weights, const Matrix& rows,
                          bool finite, Matrix& sums, Real* y, std::int64_t row_stride, std::int64_t columns) {
  const MatrixRows seen = rows.rows_from(queries.begin), to = sums.rows_from(0);
  if (finite) {
    product(queries.count, weights.left_transposed(), seen, to, Into::replace, [&](std::int64_t, std::int64_t end) {
      return Extent{0, keys_before(ranges, queries, end), 0};
    });
  } else {
    product_skipping_zeros(queries.count, queries.keys(), weights.left_transposed(), seen, to, Into::replace);
  }
  sums.write(y, row_stride, queries.count, columns);
}

/// The products of the forward pass: take_head, then, for some queries at a time, scores and weighted_sum.
/// Threads: for the thread that made it.
class ForwardProducts {
 public:
  ForwardProducts(const AttentionSizes& p, const KeyRanges& ranges)
      : p_(p),
        ranges_(ranges),
        keys_end_(ranges.end(p.B)),
        query_(p.d, queries_at_a_time(p)),
        values_(keys_end_, p.e),
        out_(queries_at_a_time(p), p.e) {}

  void take_head(const Real* k, const Real* v) {
    keys_ = k;
    values_.read(v, p_.v.row_stride, keys_end_, p_.e);
    finite_ = values_.finite();
  }
  /// scale k q' of the keys that these queries see.
  void scores(const Queries& queries, const Real* q, const MatrixRows& to) {
    query_.read_transposed(q, p_.q.row_stride, queries.count, p_.d, p_.scale);
    products_with_keys(ranges_, queries, keys_, p_.k.row_stride, query_, p_.d, to);
  }
  /// Writes weights' v.
  void weighted_sum(const Queries& queries, const Matrix& weights, Real* y) {
    sum_over_keys(ranges_, queries, weights, values_, finite_, out_, y, p_.y.row_stride, p_.e);
  }

 private:
  const AttentionSizes& p_;
  const KeyRanges& ranges_;
  std::int64_t keys_end_;
  Matrix query_, values_, out_;
  const Real* keys_ = nullptr;
  bool finite_ = true;
};

/// The products of the backward pass: take_head once for a head of keys, then, for some queries at a time,
/// take_queries and the other functions, finally write_gradients. Threads: for the thread that made it.
class BackwardProducts {
 public:
  /// `again`: whether scores() will be called.
  BackwardProducts(const AttentionSizes& p, const KeyRanges& ranges, bool again)
      : p_(p),
        ranges_(ranges),
        again_(again),
        keys_(p.S, p.d),
        query_(queries_at_a_time(p), p.d),
        above_(queries_at_a_time(p), p.e),
        above_transposed_(p.e, queries_at_a_time(p)),
        query_transposed_(again ? p.d : 0, queries_at_a_time(p)),
        dq_(queries_at_a_time(p), p.d),
        dk_(p.S, p.d),
        dv_(p.S, p.e) {}

  void take_head(const Real* k, const Real* v) {
    k_ = k;
    v_ = v;
    keys_.read(k, p_.k.row_stride, p_.S, p_.d);
    finite_keys_ = keys_.finite();
    dk_.fill(0);
    dv_.fill(0);
  }
  void take_queries(const Queries& queries, const Real* q, const Real* gy) {
    query_.read(q, p_.q.row_stride, queries.count, p_.d);
    above_.read(gy, p_.y.row_stride, queries.count, p_.e);
    above_transposed_.read_transposed(gy, p_.y.row_stride, queries.count, p_.e);
    if (again_) query_transposed_.read_transposed(q, p_.q.row_stride, queries.count, p_.d, p_.scale);
  }
  void scores(const Queries& queries, const MatrixRows& to) {
    products_with_keys(ranges_, queries, k_, p_.k.row_stride, query_transposed_, p_.d, to);
  }
  /// v gy' of the keys that these queries see.
  void weight_gradients(const Queries& queries, const MatrixRows& to) {
    products_with_keys(ranges_, queries, v_, p_.v.row_stride, above_transposed_, p_.e, to);
  }
  /// Writes slope' k.
  void query_gradients(const Queries& queries, const Matrix& slope, Real* dq) {
    sum_over_keys(ranges_, queries, slope, keys_, finite_keys_, dq_, dq, p_.q.row_stride, p_.d);
  }
  /// Adds slope q to the gradients of the keys, and weight gy to those of the values.
  void add_gradients(const Queries& queries, const Matrix& slope, const Matrix& weight) {
    add(queries, slope, query_, dk_);
    add(queries, weight, above_, dv_);
  }
  void write_gradients(Real* dk, std::int64_t dk_stride, Real* dv, std::int64_t dv_stride) const {
    dk_.write(dk, dk_stride, p_.S, p_.d);
    dv_.write(dv, dv_stride, p_.S, p_.e);
  }

 private:
  void add(const Queries& queries, const Matrix& left, const Matrix& right, Matrix& sums) {
    const MatrixRows to = sums.rows_from(queries.begin);
    if (right.finite()) {
      product(queries.keys(), left.left(), right.rows_from(0), to, Into::add, [&](std::int64_t from, std::int64_t) {
        return Extent{first_query(ranges_, queries, from), queries.count, 0};
      });
    } else {
      product_skipping_zeros(queries.keys(), queries.count, left.left(), right.rows_from(0), to, Into::add);
    }
  }

  const AttentionSizes& p_;
  const KeyRanges& ranges_;
  bool again_, finite_keys_ = true;
  Matrix keys_, query_, above_, above_transposed_, query_transposed_, dq_, dk_, dv_;
  const Real *k_ = nullptr, *v_ = nullptr;
};

}  // namespace xgrad::inline XGRAD_SIMD
