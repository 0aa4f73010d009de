// The block that all products are made of: sums that stay in registers while one factor is streamed.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rows.h"

namespace xgrad::inline XGRAD_SIMD {

#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int registers = 32;
#else
inline constexpr int registers = 16;
#endif

/// The rows of sums, of `packs` packs each, for which registers suffice, with a row of b and an element of a.
template <int packs>
inline constexpr int rows_in_registers = (registers - packs - 1) / packs;

// The sums stay in registers only if the loops over them are unrolled.
#ifdef __clang__
#define XGRAD_UNROLL _Pragma("unroll")
#else
#define XGRAD_UNROLL _Pragma("GCC unroll 16")
#endif

/// The functions f(1), f(2), ..., f(count) of a kernel, for which its rows are compile-time constants.
template <int count, class F>
constexpr auto by_rows_at_once(const F& f) {
  return [&]<int... i>(std::integer_sequence<int, i...>) {
    return std::array{f(std::integral_constant<int, i + 1>())...};
  }
  (std::make_integer_sequence<int, count>());
}

/// The left factor: element (i, k) is data[i row_stride + k depth_stride].
struct LeftRows {
  const Real* data;
  std::int64_t row_stride, depth_stride;
};

/// sum_ij += a_ik b_kj over k < depth, for `rows` rows and `packs` packs of columns; rows of b lie b_stride apart. Each
/// sum goes along k in order, so that its bits depend on k alone.
template <int rows, int packs>
[[gnu::always_inline]] inline void multiply_add_block(Pack (&sum)[rows][packs], const LeftRows& left, const Real* b,
                                                      std::int64_t b_stride, std::int64_t depth) {
  // One pointer serves four rows: with one for each, or one for all, addresses would not fit into registers.
  const std::int64_t steps[] = {0, left.row_stride, 2 * left.row_stride, 3 * left.row_stride};
  const Real* a[(rows + 3) / 4];
  XGRAD_UNROLL
  for (int i = 0; i < rows; i += 4) a[i / 4] = left.data + i * left.row_stride;
  for (std::int64_t k = 0; k < depth; ++k, b += b_stride) {
    Pack right[packs];
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) right[j] = Pack::load(b + j * pack_width);
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      const Pack factor(a[i / 4][steps[i % 4]]);
      XGRAD_UNROLL
      for (int j = 0; j < packs; ++j) sum[i][j] = multiply_add(factor, right[j], sum[i][j]);
    }
    XGRAD_UNROLL
    for (int i = 0; i < rows; i += 4) a[i / 4] += left.depth_stride;
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
