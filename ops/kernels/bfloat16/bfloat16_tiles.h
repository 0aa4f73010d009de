// Products of packed bfloat16 numbers by eight tiles of 16 rows of 64 bytes, as AMX has them: four hold sums, two the
// left factor, two the right one. A template, so that tests can run it on tiles that are plain memory.
#pragma once

#include <algorithm>

#include "../registers/rows.h"
#include "bfloat16.h"

namespace xgrad::inline XGRAD_SIMD {

/// c = scale sums + keep c + bias, with sums (rows, panel_columns).
inline void finish_block(const detail::BfloatBlock& block, const Real* sums) {
  for (std::int64_t i = 0; i < block.rows; ++i, sums += detail::panel_columns) {
    Real* const to = block.c + i * block.c_step;
    each_pack(block.columns, [&](std::int64_t j, auto part) {
      const Pack bias = block.bias ? part.load(block.bias + j) : Pack();
      Pack value = multiply_add(block.scale, part.load(sums + j), bias);
      if (block.keep != 0) value = multiply_add(block.keep, part.load(to + j), value);
      part.store(value, to + j);
    });
  }
}

/// The block, by tiles that have been configured. Tiles, by number: zero<t>(), load<t>(from, step) and store<t>(to,
/// step) of 16 rows of 64 bytes, `step` bytes apart, and multiply<sum, left, right>(), which adds to 16 x 16 floats the
/// products of 16 rows of 32 numbers with 16 rows of 16 pairs.
template <class Tiles>
[[gnu::always_inline]] inline void multiply_by_tiles(const detail::BfloatBlock& block) {
  using detail::panel_columns;
  constexpr std::int64_t b_step = panel_columns * 2 * sizeof(Bfloat16), sums_step = panel_columns * sizeof(Real);
  const std::int64_t a_step = block.a_step * static_cast<std::int64_t>(sizeof(Bfloat16));
  const bool right = block.columns > 16;
  alignas(64) Real sums[32 * panel_columns];
  for (std::int64_t i = 0; i < block.rows; i += 32) {
    const bool lower = block.rows - i > 16;
    const Bfloat16 *a = block.a + i * block.a_step, *b = block.b;
    Tiles::template zero<0>();
    Tiles::template zero<1>();
    Tiles::template zero<2>();
    Tiles::template zero<3>();
    for (std::int64_t k = 0; k < block.depth; k += 32, a += 32, b += 32 * panel_columns) {
      Tiles::template load<4>(a, a_step);
      Tiles::template load<6>(b, b_step);
      Tiles::template multiply<0, 4, 6>();
      if (right) {
        Tiles::template load<7>(b + 32, b_step);
        Tiles::template multiply<1, 4, 7>();
      }
      if (!lower) continue;
      Tiles::template load<5>(a + 16 * block.a_step, a_step);
      Tiles::template multiply<2, 5, 6>();
      if (right) Tiles::template multiply<3, 5, 7>();
    }
    Tiles::template store<0>(sums, sums_step);
    if (right) Tiles::template store<1>(sums + 16, sums_step);
    if (lower) Tiles::template store<2>(sums + 16 * panel_columns, sums_step);
    if (lower && right) Tiles::template store<3>(sums + 16 * panel_columns + 16, sums_step);
    detail::BfloatBlock part = block;
    part.rows = std::min<std::int64_t>(32, block.rows - i);
    part.c += i * block.c_step;
    finish_block(part, sums);
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
