// Transposing square tiles in registers.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "simd.h"

namespace xgrad::inline XGRAD_SIMD {

/// A square tile is as wide as a register.
template <class T>
inline constexpr int tile = sizeof(T) == 1 ? 16 : static_cast<int>(Pack::width * sizeof(Real) / sizeof(T));

/// to[i to_stride + j] = from[i + j from_stride] for i, j < tile: rows into registers, then log2(tile) rounds that each
/// interleave register i with register i + tile / 2, then out.
template <class T>
void transpose_tile(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride) {
  constexpr int width = tile<T>;
  if constexpr (sizeof(T) == 1) {
    for (int i = 0; i < width; ++i) {
      for (int j = 0; j < width; ++j) to[i * to_stride + j] = from[i + j * from_stride];
    }
  } else {
    typedef T Register __attribute__((vector_size(width * sizeof(T))));
    Register rows[width], mixed[width];
    for (int j = 0; j < width; ++j) std::memcpy(&rows[j], from + j * from_stride, sizeof(Register));
    const auto interleave = [&]<int... k>(std::integer_sequence<int, k...>) {
      for (int j = 0; j < width / 2; ++j) {
        mixed[2 * j] = __builtin_shufflevector(rows[j], rows[j + width / 2], (k / 2 + k % 2 * width)...);
        mixed[2 * j + 1] =
            __builtin_shufflevector(rows[j], rows[j + width / 2], (width / 2 + k / 2 + k % 2 * width)...);
      }
      for (int j = 0; j < width; ++j) rows[j] = mixed[j];
    };
    for (int round = 1; round < width; round *= 2) interleave(std::make_integer_sequence<int, width>{});
    for (int i = 0; i < width; ++i) std::memcpy(to + i * to_stride, &rows[i], sizeof(Register));
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
