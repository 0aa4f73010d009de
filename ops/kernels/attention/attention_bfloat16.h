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
  using detail::tile_depth, detail::tile_lines;
  const auto number = [](const detail::BfloatFactor& factor, std::int64_t line, std::int64_t k, std::int64_t in_tile) {
    const detail::BfloatLayout& at = factor.layout;
    const Bfloat16 bits = factor.data[line / tile_lines * at.across + k / tile_depth * at.along + in_tile];
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  };
  for (std::int64_t i = 0; i < block.rows; ++i) {
    for (std::int64_t j = 0; j < block.columns; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < block.depth; ++k) {
        const std::int64_t place = k % tile_depth;
        const float a = number(block.a, i, k, i % tile_lines * block.a.layout.step + place);
        const float b = number(block.b, j, k, place / 2 * block.b.layout.step + j % tile_lines * 2 + place % 2);
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
      : rows_(rows), depth_(depth), layout_(detail::in_rows(depth)), room_(detail::rows_size(rows + 16, depth)) {}

  void pack(const detail::BfloatUnit& unit, const Factor& a) {
    unit.pack({.from = a, .lines = rows_, .depth = depth_, .to = room_.data(), .layout = layout_});
  }
  detail::BfloatFactor from(std::int64_t row, std::int64_t column) const {
    return {room_.data() + row * layout_.step + column, layout_};
  }
  bool finite() const {
    bool finite = true;
    for (std::int64_t i = 0; i < rows_; ++i) finite &= all_finite(from(i, 0).data, depth_);
    return finite;
  }

 private:
  std::int64_t rows_, depth_;
  detail::BfloatLayout layout_;
  detail::BfloatRoom room_;
};

/// A packed right factor. Threads: a plain value.
class PackedRight {
 public:
  PackedRight(std::int64_t depth, std::int64_t columns)
      : columns_(columns), layout_(detail::in_tiles(depth)), room_(detail::tiles_size(columns, depth)) {}

  std::int64_t columns() const { return columns_; }
  detail::BfloatFactor factor() const { return {room_.data(), layout_}; }
  /// scale b, of which there may be fewer rows and columns.
  void pack(const detail::BfloatUnit& unit, const Factor& b, std::int64_t depth, std::int64_t columns, Real scale = 1) {
    const std::int64_t packed = detail::whole_lines(columns) / detail::tile_lines * layout_.across;
    std::fill(room_.data() + packed, room_.data() + detail::whole_lines(columns_) / detail::tile_lines * layout_.across,
              Bfloat16(0));
    unit.pack({.from = b,
               .side = detail::BfloatSide::right,
               .lines = columns,
               .depth = depth,
               .to = room_.data(),
               .layout = layout_,
               .scale = scale});
  }
  /// Of the numbers packed with this depth.
  bool finite(std::int64_t depth) const {
    bool finite = true;
    for (std::int64_t i = 0; i < detail::whole_lines(columns_) / detail::tile_lines; ++i) {
      finite &= all_finite(room_.data() + i * layout_.across, detail::tiles_size(1, depth));
    }
    return finite;
  }

 private:
  std::int64_t columns_;
  detail::BfloatLayout layout_;
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
    unit_.multiply({.a = keys_.from(queries.begin, 0),
                    .b = query_.factor(),
                    .rows = queries.keys(),
                    .columns = lanes_,
                    .depth = p_.d,
                    .c = to.row(0),
                    .c_step = to.step()});
  }
  void weighted_sum(const Queries& queries, const Matrix& weights, Real* y) {
    const std::int64_t depth = lead(queries) + queries.keys();
    weights_.pack(unit_, {weights.row(0), weights.step()}, depth, lanes_);
    const detail::BfloatBlock block{.a = values_.from(0, queries.begin - lead(queries)),
                                    .b = weights_.factor(),
                                    .rows = p_.e,
                                    .columns = lanes_,
                                    .depth = depth,
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
        left_({p.unit}, ranges.most_keys(lanes_), lanes_),
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
    const detail::BfloatBlock block{.a = keys_transposed_.from(0, queries.begin - lead(queries)),
                                    .b = slope_.factor(),
                                    .rows = p_.d,
                                    .columns = lanes_,
                                    .depth = depth,
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
  void write_gradients(Real* dk, std::int64_t dk_step, Real* dv, std::int64_t dv_step) const {
    dk_.write(dk, dk_step, p_.S, p_.d);
    dv_.write(dv, dv_step, p_.S, p_.e);
  }

 private:
  // One row for each key that these queries see, one column for each of them.
  void multiply(const Queries& queries, const PackedLeft& left, const PackedRight& right, std::int64_t depth,
                const MatrixRows& to) {
    unit_.multiply({.a = left.from(queries.begin, 0),
                    .b = right.factor(),
                    .rows = queries.keys(),
                    .columns = lanes_,
                    .depth = depth,
                    .c = to.row(0),
                    .c_step = to.step()});
  }
  // Adds left right to the rows of the keys that these queries see.
  void add(const Queries& queries, const Matrix& left, const PackedRight& right, Matrix& sums) {
    const std::int64_t depth = queries.count;
    const Factor rows{left.row(lead(queries)), left.step()};
    const detail::BfloatBlock block{.a = left_.pack({.from = rows, .lines = queries.keys(), .depth = depth}),
                                    .b = right.factor(),
                                    .rows = queries.keys(),
                                    .columns = right.columns(),
                                    .depth = depth,
                                    .c = sums.row(queries.begin),
                                    .c_step = sums.step(),
                                    .keep = 1};
    right.finite(depth) ? unit_.multiply(block) : careful_multiply(block, WeightSide::left);
  }

  const AttentionSizes& p_;
  const detail::BfloatUnit& unit_;
  detail::BfloatWork work_;
  bool again_, finite_keys_ = true;
  std::int64_t lanes_;
  PackedLeft keys_, keys_transposed_, values_;
  PackedRight query_transposed_, above_transposed_, query_, above_, slope_;
  detail::BfloatTiles left_;
  Matrix sums_, dq_, dk_, dv_;
};

}  // namespace xgrad::inline XGRAD_SIMD
