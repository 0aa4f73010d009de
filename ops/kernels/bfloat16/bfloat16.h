// Products of numbers that are cut into bfloat16 parts while they are packed, summed in float: the interface of the
// instructions for them. A number in one part is rounded; in two parts it keeps 16 digits in base 2, in three all 24.
#pragma once

#include <cstdint>
#include <string_view>

#include "../products/product.h"

namespace xgrad {

/// A bfloat16 number, by its bits: the upper half of a float's.
using Bfloat16 = std::uint16_t;

namespace detail {

/// Packed factors are made of tiles as AMX has them, of 16 lines (rows of the left factor, columns of the right one)
/// and 32 positions along the depth. A tile of the left factor is 16 rows of 32 numbers. A tile of the right one is 16
/// rows of 16 pairs: of the columns in turn, the numbers at two positions along the depth. The padding after the last
/// line and position is zeros.
inline constexpr std::int64_t tile_lines = 16, tile_depth = 32, tile_size = tile_lines * tile_depth;

/// Depth and lines, padded to full tiles.
inline std::int64_t padded_depth(std::int64_t depth) { return (depth + tile_depth - 1) / tile_depth * tile_depth; }
inline std::int64_t padded_lines(std::int64_t lines) { return (lines + tile_lines - 1) / tile_lines * tile_lines; }

/// Where the tiles of a factor are, in numbers: each in one piece, followed by those of its other parts.
struct BfloatLayout {
  std::int64_t along;   ///< between tiles one after the other along the depth
  std::int64_t across;  ///< between tiles side by side
};
inline BfloatLayout in_tiles(std::int64_t depth, int parts) {
  return {parts * tile_size, parts * tile_lines * padded_depth(depth)};
}

/// A packed factor, or a part of it.
struct BfloatFactor {
  const Bfloat16* data = nullptr;
  BfloatLayout layout = {};
};

enum class BfloatSide { left, right };

/// A factor to pack: left (lines, depth) or right (depth, lines).
struct BfloatPacking {
  Factor from = {};
  BfloatSide side = BfloatSide::left;
  std::int64_t lines = 0, depth = 0;
  Bfloat16* to = nullptr;
  BfloatLayout layout = {};
  int parts = 1;  ///< 1, 2 or 3
};

/// c = scale a b + keep c + bias
struct BfloatBlock {
  BfloatFactor a, b;
  std::int64_t rows = 0, columns = 0, depth = 0;
  Real* c = nullptr;  ///< rows c_stride apart
  std::int64_t c_stride = 0;
  Real scale = 1;
  Real keep = 0;               ///< 0: the old c is ignored, even NaN
  const Real* bias = nullptr;  ///< one number a column
  int parts = 1;
};

/// Whether a product is rounded: always to one part. To several, if it is so large that they are faster than float, and
/// if they have no loss that float does not have: all numbers are finite and below 2^127, and the product of the
/// largest two is at least 2^-60. Products of parts count as 0 below 2^-126.
bool rounds(const Gemm& p, const Factor& a, const Factor& b);

/// The product by p.rounding, whose unit is a BfloatUnit.
void bfloat_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

/// Instructions that multiply in bfloat16. Each sum goes along the depth in an order that depends on the depth alone.
/// Numbers in one part are rounded to nearest even; subnormal ones, and sums that become subnormal, count as 0.
struct BfloatUnit : RoundingUnit {
  /// The most elements of the right factor that stay in a near cache, and the most packed ones of the left factor.
  std::int64_t most_right, most_left;
  /// A thread calls these before and after its calls of `multiply`.
  void (*start)();
  void (*end)();
  void (*pack)(const BfloatPacking& packing);
  void (*multiply)(const BfloatBlock& block);
};

/// A unit, or why there is none.
struct BfloatFound {
  const BfloatUnit* unit = nullptr;
  std::string_view missing = {};
};
/// The units of these instructions. AMX comes with AVX512-BF16, which packs for it.
BfloatFound avx512_bf16_unit();
BfloatFound amx_unit();
/// The faster unit of those that multiply small integers exactly.
BfloatFound best_bfloat_unit();
/// Whether the unit multiplies small integers exactly, in all its parts; takes 20 microseconds.
bool multiplies_right(const BfloatUnit& unit);

}  // namespace detail
}  // namespace xgrad
