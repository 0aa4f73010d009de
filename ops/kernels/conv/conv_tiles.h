// The tiles of sums that convolutions keep in registers.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "../registers/multiply_add.h"

namespace xgrad::inline XGRAD_SIMD {

inline constexpr int tile_packs = 2;                             ///< channels of the result, in packs
inline constexpr int tile_rows = rows_in_registers<tile_packs>;  ///< pixels; or channels of the image
inline constexpr std::int64_t tile_columns = tile_packs * pack_width;

inline std::int64_t panels_of(std::int64_t channels) { return (channels + tile_columns - 1) / tile_columns; }

/// The functions Make<1, packs>::function, Make<2, packs>::function, ...
template <class Function, template <int, int> class Make, int packs, int... i>
constexpr std::array<Function, sizeof...(i)> table(std::integer_sequence<int, i...>) {
  return {Make<i + 1, packs>::function...};
}

inline constexpr auto all_rows = std::make_integer_sequence<int, tile_rows>();

}  // namespace xgrad::inline XGRAD_SIMD
