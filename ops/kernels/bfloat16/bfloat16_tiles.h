// Products of packed bfloat16 numbers by eight tiles of 16 rows of 64 bytes, as AMX has them: four hold sums, two the
// left factor, two the right one. A template, so that tests can run it on tiles that are plain memory.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "../registers/rows.h"
#include "bfloat16.h"

namespace xgrad::inline XGRAD_SIMD {

/// Of factors in some parts, the first of which is the largest: the parts that are multiplied, the smallest products
/// first. What remains is as small as the rounding of float. Neighbours use the same part, whose tiles stay.
struct PartProduct {
  int left, right;
};
template <int parts>
inline constexpr std::array<PartProduct, static_cast<std::size_t>(parts*(parts + 1) / 2)> part_products{};
template <>
inline constexpr std::array<PartProduct, 1> part_products<1>{{{0, 0}}};
template <>
inline constexpr std::array<PartProduct, 3> part_products<2>{{{1, 0}, {0, 0}, {0, 1}}};
template <>
inline constexpr std::array<PartProduct, 6> part_products<3>{{{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};

/// Up to 32 x 32 sums in tiles 0 ... 3. Tiles, by number: zero<t>(), load<t>(from, step) and store<t>(to, step) of 16
/// rows of 64 bytes, `stride` bytes apart, and multiply<sum, left, right>(), which adds to 16 x 16 floats the products
/// of 16 rows of 32 numbers with 16 rows of 16 pairs.
template <class Tiles, int parts>
class TileSums {
 public:
  // Whether there are more than 16 columns, and rows.
  [[gnu::always_inline]] TileSums(bool right, bool lower) : right_(right), lower_(lower) {}

  [[gnu::always_inline]] void zero() const {
    Tiles::template zero<0>();
    if (right_) Tiles::template zero<1>();
    if (lower_) Tiles::template zero<2>();
    if (right_ && lower_) Tiles::template zero<3>();
  }
  /// Rows `stride` numbers apart; 0: the same row again and again.
  [[gnu::always_inline]] void load(const Real* from, std::int64_t stride) const {
    const std::int64_t bytes = stride * static_cast<std::int64_t>(sizeof(Real));
    Tiles::template load<0>(from, bytes);
    if (right_) Tiles::template load<1>(from + 16, bytes);
    if (lower_) Tiles::template load<2>(from + 16 * stride, bytes);
    if (right_ && lower_) Tiles::template load<3>(from + 16 * stride + 16, bytes);
  }
  [[gnu::always_inline]] void store(Real* to, std::int64_t stride) const {
    const std::int64_t bytes = stride * static_cast<std::int64_t>(sizeof(Real));
    Tiles::template store<0>(to, bytes);
    if (right_) Tiles::template store<1>(to + 16, bytes);
    if (lower_) Tiles::template store<2>(to + 16 * stride, bytes);
    if (right_ && lower_) Tiles::template store<3>(to + 16 * stride + 16, bytes);
  }
  [[gnu::always_inline]] void add(detail::BfloatFactor a, const detail::BfloatFactor& b, std::int64_t depth) const {
    detail::BfloatFactor tile = b;
    for (std::int64_t k = 0; k < depth; k += detail::tile_depth) {
      add_parts(a, tile, std::make_index_sequence<part_products<parts>.size()>());
      a.data += a.layout.along;
      tile.data += b.layout.along;
    }
  }

 private:
  template <std::size_t... n>
  [[gnu::always_inline]] void add_parts(const detail::BfloatFactor& a, const detail::BfloatFactor& b,
                                        std::index_sequence<n...>) const {
    (add_product<n>(a, b), ...);
  }
  template <std::size_t n>
  [[gnu::always_inline]] void add_product(const detail::BfloatFactor& a, const detail::BfloatFactor& b) const {
    constexpr PartProduct now = part_products<parts>[n], before = part_products<parts>[n == 0 ? 0 : n - 1];
    if constexpr (n == 0 || now.left != before.left) {
      const Bfloat16* const from = a.data + now.left * detail::tile_size;
      Tiles::template load<4>(from, row_bytes);
      if (lower_) Tiles::template load<5>(from + a.layout.across, row_bytes);
    }
    if constexpr (n == 0 || now.right != before.right) {
      const Bfloat16* const from = b.data + now.right * detail::tile_size;
      Tiles::template load<6>(from, row_bytes);
      if (right_) Tiles::template load<7>(from + b.layout.across, row_bytes);
    }
    Tiles::template multiply<0, 4, 6>();
    if (right_) Tiles::template multiply<1, 4, 7>();
    if (lower_) Tiles::template multiply<2, 5, 6>();
    if (right_ && lower_) Tiles::template multiply<3, 5, 7>();
  }
  static constexpr std::int64_t row_bytes = detail::tile_depth * static_cast<std::int64_t>(sizeof(Bfloat16));

  bool right_, lower_;
};

/// The bias of a block from column j on.
Pack bias_at(const detail::BfloatBlock& block, std::int64_t j, const auto& part) {
  return block.bias ? part.load(block.bias + j) : Pack();
}

/// sums = c, or the bias, of rows 32 numbers apart
inline void copy_start(const detail::BfloatBlock& block, bool from_c, Real* sums) {
  for (std::int64_t i = 0; i < block.rows; ++i) {
    each_pack(block.columns, [&](std::int64_t j, auto part) {
      (from_c ? part.load(block.c + i * block.c_stride + j) : bias_at(block, j, part)).store(sums + i * 32 + j);
    });
  }
}

/// c = scale sums + keep c + bias, of sums in rows 32 numbers apart
inline void finish_sums(const detail::BfloatBlock& block, const Real* sums) {
  for (std::int64_t i = 0; i < block.rows; ++i, sums += 32) {
    Real* const row = block.c + i * block.c_stride;
    each_pack(block.columns, [&](std::int64_t j, auto part) {
      Pack value = multiply_add(block.scale, part.load(sums + j), bias_at(block, j, part));
      if (block.keep != 0) value = multiply_add(block.keep, part.load(row + j), value);
      part.store(value, row + j);
    });
  }
}

/// The block, by tiles that have been configured. Sums of three parts, which must be as exact as sums of float,
/// start from zero. Others start from c, which spares a pass over c where c has 32 rows and columns.
template <class Tiles, int parts>
[[gnu::always_inline]] inline void multiply_parts(const detail::BfloatBlock& block) {
  const bool may_start = parts < 3 && block.scale == 1;
  const bool biased = block.bias != nullptr;
  const bool from_c = may_start && block.keep == 1 && !biased, from_bias = may_start && block.keep == 0 && biased;
  const Real keep = from_c ? 0 : block.keep;  // of what the sums do not have yet
  const bool nothing_left = block.scale == 1 && keep == 0 && (!biased || from_bias);
  alignas(64) Real sums[32 * 32] = {};
  for (std::int64_t i = 0; i < block.rows; i += 32) {
    detail::BfloatFactor a = block.a, b = block.b;
    a.data += i / detail::tile_lines * a.layout.across;
    for (std::int64_t j = 0; j < block.columns; j += 32, b.data += 2 * b.layout.across) {
      detail::BfloatBlock to = block;
      to.c += i * block.c_stride + j;
      to.rows = std::min<std::int64_t>(32, block.rows - i);
      to.columns = std::min<std::int64_t>(32, block.columns - j);
      to.keep = keep;
      if (biased) to.bias += j;
      const bool in_place = nothing_left && to.rows == 32 && to.columns == 32;
      const TileSums<Tiles, parts> tiles(to.columns > 16, to.rows > 16);
      for (std::int64_t row = 0; row < to.rows; ++row) {  // c comes while the sums are made
        __builtin_prefetch(to.c + row * to.c_stride, 1);
        __builtin_prefetch(to.c + row * to.c_stride + to.columns - 1, 1);
      }
      if (!from_c && !from_bias) {
        tiles.zero();
      } else if (in_place && from_c) {
        tiles.load(to.c, to.c_stride);
      } else if (in_place) {
        tiles.load(to.bias, 0);
      } else {
        copy_start(to, from_c, sums);
        tiles.load(sums, 32);
      }
      tiles.add(a, b, block.depth);
      if (in_place) {
        tiles.store(to.c, to.c_stride);
      } else {
        tiles.store(sums, 32);
        if (from_bias) to.bias = nullptr;
        finish_sums(to, sums);
      }
    }
  }
}

template <class Tiles>
[[gnu::always_inline]] inline void multiply_by_tiles(const detail::BfloatBlock& block) {
  if (block.parts == 1) return multiply_parts<Tiles, 1>(block);
  if (block.parts == 2) return multiply_parts<Tiles, 2>(block);
  multiply_parts<Tiles, 3>(block);
}

}  // namespace xgrad::inline XGRAD_SIMD
