// The products of attention's two passes on factors rounded to bfloat16, with the names of attention_products.h. Keys
// and values, shared by all queries, are packed once a head. Queries are the columns of results throughout, so that
// scores are packed by joining rows in pairs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "../bfloat16/bfloat16.h"
#include "attention_products.h"

namespace xgrad::inline XGRAD_SIMD {

/// Whether n packed numbers are all neither infinite nor NaN.
inline bool all_finite(const Bfloat16* x, std::int64_t n) {
  constexpr Bfloat16 exponent = 0x7f80;
  bool finite = true;
  for (std::int64_t i = 0; i < n; ++i) finite &= (x[i] & exponent) != exponent;
  return finite;
}

/// The factor of a product that holds weights, or their gradients: its zeros are not multiplied by infinities and NaN.
enum class WeightSide { left, right };
inline void careful_multiply(const detail::BfloatBlock& block, WeightSide weights) {
  const auto number = [](Bfloat16 bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); };
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (std::int64_t j = 0; j < block.columns; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < block.depth; ++k) {
        const float a = number(block.a[i * block.a_step + k]);
        const float b = number(block.b[k / 2 * 2 * detail::panel_columns + 2 * j + k % 2]);
        if ((weights == WeightSide::left ? a : b) != 0) sum += a * b;
      }
      Real& c = block.c[i * block.c_step + j];
      c = block.keep == 0 ? sum : block.keep * c + sum;
    }
  }
}

/// A packed left factor; any of its rows can be used, and its columns from a multiple of 32 on. Threads: a plain value.
class PackedLeft {
 public:
  PackedLeft(std::int64_t rows, std::int64_t depth)
      : rows_(rows), depth_(depth), room_(detail::left_size(rows + 16, depth)) {}

  void pack(const detail::BfloatUnit& unit, const Factor& a) { unit.pack_left(a, rows_, depth_, room_.data()); }
  const Bfloat16* at(std::int64_t row, std::int64_t column) const { return room_.data() + row * step() + column; }
  std::int64_t step() const { return detail::left_step(depth_); }
  bool finite() const {
    bool finite = true;
    for (std::int64_t i = 0; i < rows_; ++i) finite &= all_finite(at(i, 0), depth_);
    return finite;
  }

 private:
  std::int64_t rows_, depth_;
  detail::BfloatRoom room_;
};

/// Packed panels of a right factor, side by side. Threads: a plain value.
class PackedRight {
 public:
  PackedRight(std::int64_t depth, std::int64_t columns)
      : depth_(depth), columns_(columns), room_(panels() * detail::panel_size(depth)) {}

  std::int64_t panels() const { return (columns_ + detail::panel_columns - 1) / detail::panel_columns; }
  std::int64_t columns(std::int64_t panel) const {
    return std::min(detail::panel_columns, columns_ - panel * detail::panel_columns);
  }
  const Bfloat16* panel(std::int64_t panel) const { return room_.data() + panel * detail::panel_size(depth_); }
  /// scale b, of which there may be fewer rows, or columns if there is one panel.
  void pack(const detail::BfloatUnit& unit, const Factor& b, std::int64_t depth, std::int64_t columns, Real scale = 1) {
    for (std::int64_t i = 0; i < panels(); ++i) {
      const std::int64_t first = i * detail::panel_columns;
      unit.pack_right({b.data + first * (b.transposed ? b.stride : 1), b.stride, b.transposed}, depth,
                      std::min(detail::panel_columns, columns - first), scale,
                      room_.data() + i * detail::panel_size(depth_));
    }
  }
  /// Of the numbers packed with this depth.
  bool finite(std::int64_t depth) const {
    bool finite = true;
    for (std::int64_t i = 0; i < panels(); ++i) finite &= all_finite(panel(i), detail::panel_size(depth));
    return finite;
  }

 private:
  std::int64_t depth_, columns_;
  detail::BfloatRoom room_;
};

/// Columns of packed factors are taken from a multiple of this on.
inline constexpr std::int64_t bfloat_step = 32;

/// Threads: for the thread that made it.
class BfloatForward {
 public:
  BfloatForward(const AttentionSizes& p, const KeyRanges& ranges)
      : p_(p),
        unit_(*p.unit),
        work_(unit_),
        lanes_(queries_at_a_time(p)),
        seen_(ranges.end(p.B)),
        keys_(seen_, p.d),
        values_(p.e, seen_),
        query_(p.d, lanes_),
        weights_(ranges.most_keys(lanes_) + max_lead, lanes_),
        sums_(p.e, lanes_),
        out_(lanes_, p.e) {}

  static constexpr std::int64_t max_lead = bfloat_step - 1;
  static std::int64_t lead(const Queries& queries) { return queries.begin % bfloat_step; }

  void take_head(const Real* k, const Real* v) {
    keys_.pack(unit_, {k, p_.k.row_step});
    values_.pack(unit_, {v, p_.v.row_step, true});
    finite_ = values_.finite();
  }
  void scores(const Queries& queries, const Real* q, const MatrixRows& to) {
    query_.pack(unit_, {q, p_.q.row_step, true}, p_.d, queries.count, p_.scale);
    unit_.multiply({.a = keys_.at(queries.begin, 0),
                    .a_step = keys_.step(),
                    .b = query_.panel(0),
                    .depth = p_.d,
                    .rows = queries.keys(),
                    .columns = lanes_,
                    .c = to.row(0),
                    .c_step = to.step()});
  }
  void weighted_sum(const Queries& queries, const Matrix& weights, Real* y) {
    const std::int64_t depth = lead(queries) + queries.keys();
    weights_.pack(unit_, {weights.row(0), weights.step()}, depth, lanes_);
    const detail::BfloatBlock block{.a = values_.at(0, queries.begin - lead(queries)),
                                    .a_step = values_.step(),
                                    .b = weights_.panel(0),
                                    .depth = depth,
                                    .rows = p_.e,
                                    .columns = lanes_,
                                    .c = sums_.row(0),
                                    .c_step = sums_.step()};
    finite_ ? unit_.multiply(block) : careful_multiply(block, WeightSide::right);
    out_.read_transposed(sums_.row(0), sums_.step(), p_.e, queries.count);
    out_.write(y, p_.y.row_step, queries.count, p_.e);
  }

 private:
  const AttentionSizes& p_;
  const detail::BfloatUnit& unit_;
  detail::BfloatWork work_;
  std::int64_t lanes_, seen_;
  PackedLeft keys_, values_;  // values transposed
  PackedRight query_, weights_;
  Matrix sums_, out_;
  bool finite_ = true;
};

/// Threads: for the thread that made it.
class BfloatBackward {
 public:
  BfloatBackward(const AttentionSizes& p, const KeyRanges& ranges, bool again)
      : p_(p),
        unit_(*p.unit),
        work_(unit_),
        again_(again),
        lanes_(queries_at_a_time(p)),
        keys_(again ? p.S : 0, p.d),
        keys_transposed_(p.d, p.S),
        values_(p.S, p.e),
        query_transposed_(p.d, again ? lanes_ : 0),
        above_transposed_(p.e, lanes_),
        query_(lanes_, p.d),
        above_(lanes_, p.e),
        slope_(ranges.most_keys(lanes_) + max_lead, lanes_),
        left_(detail::left_size(ranges.most_keys(lanes_), lanes_)),
        sums_(p.d, lanes_),
        dq_(lanes_, p.d),
        dk_(p.S, p.d),
        dv_(p.S, p.e) {}

  static constexpr std::int64_t max_lead = BfloatForward::max_lead;
  static std::int64_t lead(const Queries& queries) { return BfloatForward::lead(queries); }

  void take_head(const Real* k, const Real* v) {
    if (again_) keys_.pack(unit_, {k, p_.k.row_step});
    keys_transposed_.pack(unit_, {k, p_.k.row_step, true});
    finite_keys_ = keys_transposed_.finite();
    values_.pack(unit_, {v, p_.v.row_step});
    dk_.fill(0);
    dv_.fill(0);
  }
  void take_queries(const Queries& queries, const Real* q, const Real* gy) {
    if (again_) query_transposed_.pack(unit_, {q, p_.q.row_step, true}, p_.d, queries.count, p_.scale);
    above_transposed_.pack(unit_, {gy, p_.y.row_step, true}, p_.e, queries.count);
    query_.pack(unit_, {q, p_.q.row_step}, queries.count, p_.d);
    above_.pack(unit_, {gy, p_.y.row_step}, queries.count, p_.e);
  }
  void scores(const Queries& queries, const MatrixRows& to) { multiply(queries, keys_, query_transposed_, p_.d, to); }
  void weight_gradients(const Queries& queries, const MatrixRows& to) {
    multiply(queries, values_, above_transposed_, p_.e, to);
  }
  void query_gradients(const Queries& queries, const Matrix& slope, Real* dq) {
    const std::int64_t depth = lead(queries) + queries.keys();
    slope_.pack(unit_, {slope.row(0), slope.step()}, depth, lanes_);
    const detail::BfloatBlock block{.a = keys_transposed_.at(0, queries.begin - lead(queries)),
                                    .a_step = keys_transposed_.step(),
                                    .b = slope_.panel(0),
                                    .depth = depth,
                                    .rows = p_.d,
                                    .columns = lanes_,
                                    .c = sums_.row(0),
                                    .c_step = sums_.step()};
    finite_keys_ ? unit_.multiply(block) : careful_multiply(block, WeightSide::right);
    dq_.read_transposed(sums_.row(0), sums_.step(), p_.d, queries.count);
    dq_.write(dq, p_.q.row_step, queries.count, p_.d);
  }
  void add_gradients(const Queries& queries, const Matrix& slope, const Matrix& share) {
    add(queries, slope, query_, dk_);
    add(queries, share, above_, dv_);
  }
  void write_gradients(Real* dk, Real* dv) const {
    dk_.write(dk, p_.k.row_step, p_.S, p_.d);
    dv_.write(dv, p_.v.row_step, p_.S, p_.e);
  }

 private:
  // One row for each key that these queries see, one column for each of them.
  void multiply(const Queries& queries, const PackedLeft& left, const PackedRight& right, std::int64_t depth,
                const MatrixRows& to) {
    unit_.multiply({.a = left.at(queries.begin, 0),
                    .a_step = left.step(),
                    .b = right.panel(0),
                    .depth = depth,
                    .rows = queries.keys(),
                    .columns = lanes_,
                    .c = to.row(0),
                    .c_step = to.step()});
  }
  // Adds left right to the rows of the keys that these queries see.
  void add(const Queries& queries, const Matrix& left, const PackedRight& right, Matrix& sums) {
    const std::int64_t depth = queries.count;
    unit_.pack_left({left.row(lead(queries)), left.step()}, queries.keys(), depth, left_.data());
    const bool finite = right.finite(depth);
    for (std::int64_t panel = 0; panel < right.panels(); ++panel) {
      const detail::BfloatBlock block{.a = left_.data(),
                                      .a_step = detail::left_step(depth),
                                      .b = right.panel(panel),
                                      .depth = depth,
                                      .rows = queries.keys(),
                                      .columns = right.columns(panel),
                                      .c = sums.row(queries.begin) + panel * detail::panel_columns,
                                      .c_step = sums.step(),
                                      .keep = 1};
      finite ? unit_.multiply(block) : careful_multiply(block, WeightSide::left);
    }
  }

  const AttentionSizes& p_;
  const detail::BfloatUnit& unit_;
  detail::BfloatWork work_;
  bool again_, finite_keys_ = true;
  std::int64_t lanes_;
  PackedLeft keys_, keys_transposed_, values_;
  PackedRight query_transposed_, above_transposed_, query_, above_, slope_;
  detail::BfloatRoom left_;
  Matrix sums_, dq_, dk_, dv_;
};

}  // namespace xgrad::inline XGRAD_SIMD
