// A tile of c stays in registers while its sums run along k (Goto, van de Geijn, "Anatomy of High-Performance Matrix
// Multiplication", 2008). The second factor is copied into panels as wide as a tile, so that a row of a panel is two
// loads; single numbers of the first factor are read in place.
#include "ways.h"

#include <algorithm>

#include "../../../core/array/array.h"
#include "../registers/multiply_add.h"
#include "packing.h"

namespace xgrad::detail {
namespace {

constexpr int tile_packs = 2;  // columns, in packs
constexpr int tile_rows = rows_in_registers<tile_packs>;
constexpr int most_packs = registers >= 32 ? 8 : 4;  // of a tile with few rows

// Rows of a of this depth stay in the first-level cache while the panels of b stream from the second.
constexpr std::int64_t most_depth = 256;
// Twice that depth still pays if it covers all of k, for then no element of c is read again.
constexpr std::int64_t most_depth_at_once = 512;
// Panels of this many numbers of b stay in the second-level cache.
constexpr std::int64_t most_of_b = 1 << 18;

// One tile: `rows` x `columns` of c, `depth` products each.
struct Tile {
  const Real* a = nullptr;
  std::int64_t a_stride = 0;  // between rows of a, or if a is transposed between columns
  const Real* b = nullptr;
  std::int64_t b_stride = 0;
  std::int64_t depth = 0;
  Real* c = nullptr;
  std::int64_t c_stride = 0;
  std::int64_t columns = 0;
  Real scale = 1, keep = 0;
  const Real* bias = nullptr;
};

// The loop over the depth takes 3 to 5 % longer where it does not begin with a line of the instruction cache.
#if defined(__GNUC__) && !defined(__clang__)
#define XGRAD_ALIGNED_LOOPS gnu::optimize("align-loops=64")
#else
#define XGRAD_ALIGNED_LOOPS
#endif

template <int rows, int packs, bool transposed>
[[XGRAD_ALIGNED_LOOPS]] void compute(const Tile& given) {
  const Tile tile = given;  // that no store to c can change
  const LeftRows left = transposed ? LeftRows{tile.a, 1, tile.a_stride} : LeftRows{tile.a, tile.a_stride, 1};
  Pack sum[rows][packs];
  multiply_add_block(sum, left, tile.b, tile.b_stride, tile.depth);
  const auto finish = [&](const auto& part_of) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) {
      const auto part = part_of(j * pack_width);
      const Pack bias = tile.bias ? part.load(tile.bias + j * pack_width) : Pack();
      XGRAD_UNROLL
      for (int i = 0; i < rows; ++i) {
        Real* to = tile.c + i * tile.c_stride + j * pack_width;
        Pack value = multiply_add(tile.scale, sum[i][j], bias);
        if (tile.keep != 0) value = multiply_add(tile.keep, part.load(to), value);
        part.store(value, to);
      }
    }
  };
  if (tile.columns == packs * pack_width) {
    finish([](std::int64_t) { return FullPack{}; });
  } else {
    finish([&](std::int64_t j) {
      return PartPack{static_cast<std::size_t>(std::clamp<std::int64_t>(tile.columns - j, 0, pack_width))};
    });
  }
}

using ComputeTile = void (*)(const Tile&);

// compute<rows, packs, transposed> for as many rows as registers hold.
template <int packs, bool transposed>
constexpr auto tile_computations = by_rows_at_once<std::min(tile_rows, rows_in_registers<packs>)>(
    [](auto rows) -> ComputeTile { return compute<rows, packs, transposed>; });

template <int packs>
ComputeTile compute_for(std::int64_t rows, std::int64_t columns, bool transposed) {
  if constexpr (packs > 1) {
    if (columns <= packs / 2 * pack_width) return compute_for<packs / 2>(rows, columns, transposed);
  }
  const auto i = static_cast<std::size_t>(rows - 1);
  return transposed ? tile_computations<packs, true>[i] : tile_computations<packs, false>[i];
}

// The number of parts that k is cut into.
std::int64_t blocks_of(const Gemm& p, const Factor& a, bool low) {
  if (low) return (p.k + low_depth - 1) / low_depth;
  return !a.transposed && p.k <= most_depth_at_once ? 1 : (p.k + most_depth - 1) / most_depth;
}

template <int packs>
void some_columns(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, bool low) {
  constexpr std::int64_t tile_columns = packs * pack_width;
  const std::int64_t blocks = blocks_of(p, a, low);
  const std::int64_t most_of_block = (p.k + blocks - 1) / blocks;
  const std::int64_t panels = (p.n + tile_columns - 1) / tile_columns;
  const std::int64_t tiles = (p.m + tile_rows - 1) / tile_rows;
  // A b that is used only a few times is read in place.
  const bool b_in_place = !b.transposed && tiles <= 5;
  const bool a_in_place = panels < (a.transposed ? 4 : 8);
  const std::int64_t panel_size = tile_columns * most_of_block;
  const std::int64_t a_stride = a.transposed ? padded(tile_rows) : most_of_block + pack_width;  // no power of two
  const std::int64_t a_size = a_in_place ? 0 : a.transposed ? most_of_block * a_stride : tile_rows * a_stride;
  Array copies(Shape{(b_in_place ? 1 : panels) * panel_size + a_size});
  Real* const copied_panels = copies.mutable_data();
  Real* const copied_a = copied_panels + (b_in_place ? 1 : panels) * panel_size;

  for (std::int64_t k = 0; k < p.k; k += most_of_block) {
    const std::int64_t depth = std::min(most_of_block, p.k - k);
    const auto columns_of = [&](std::int64_t panel) { return std::min(tile_columns, p.n - panel * tile_columns); };
    const auto in_place = [&](std::int64_t columns) { return b_in_place && columns == tile_columns; };
    const auto copy_of = [&](std::int64_t panel) { return copied_panels + (b_in_place ? 0 : panel * panel_size); };
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t columns = columns_of(panel);
      if (!in_place(columns)) pack_panel<tile_columns>(b, k, depth, panel * tile_columns, columns, copy_of(panel));
    }
    // Tiles of about equal height: a low one at the end would wait for its few sums.
    for (std::int64_t t = 0, i = 0; t < tiles; ++t) {
      const std::int64_t height = p.m * (t + 1) / tiles - i;
      Tile tile{.a = a.from(i, k).data, .a_stride = a.stride};
      if (!a_in_place) {
        const std::int64_t rows = a.transposed ? depth : height, columns = a.transposed ? height : depth;
        pack_rows(tile.a, a.stride, rows, columns, copied_a, a_stride, padded(columns));
        tile.a = copied_a;
        tile.a_stride = a_stride;
      }
      tile.depth = depth;
      tile.c_stride = c_stride;
      tile.scale = p.scale;
      tile.keep = k == 0 ? p.keep : 1;
      const Real* const bias = k == 0 ? p.bias : nullptr;
      const ComputeTile whole = compute_for<packs>(height, tile_columns, a.transposed);
      for (std::int64_t panel = 0; panel < panels; ++panel) {
        const std::int64_t j = panel * tile_columns;
        tile.columns = columns_of(panel);
        tile.b = in_place(tile.columns) ? b.data + k * b.stride + j : copy_of(panel);
        tile.b_stride = in_place(tile.columns) ? b.stride : tile_columns;
        tile.c = c + i * c_stride + j;
        tile.bias = bias ? bias + j : nullptr;
        (tile.columns == tile_columns ? whole : compute_for<packs>(height, tile.columns, a.transposed))(tile);
      }
      i += height;
    }
  }
}

template <int packs>
void by_tiles(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, bool low) {
  constexpr std::int64_t tile_columns = packs * pack_width;
  const std::int64_t depth = std::max<std::int64_t>(1, p.k / blocks_of(p, a, low));
  static_assert(most_of_b / most_depth_at_once >= tile_columns);
  const std::int64_t columns = most_of_b / depth / tile_columns * tile_columns;
  for (std::int64_t j = 0; j < p.n; j += columns) {
    Gemm part = p;
    part.n = std::min(columns, p.n - j);
    if (p.bias) part.bias += j;
    some_columns<packs>(part, a, b.from(0, j), c + j, c_stride, low);
  }
}

}  // namespace

void tile_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride, bool low) {
  if (p.n <= pack_width) return by_tiles<1>(p, a, b, c, c_stride, low);
  if (p.n > 4 * pack_width && p.m <= rows_in_registers<most_packs>)
    return by_tiles<most_packs>(p, a, b, c, c_stride, low);
  if (p.n > 2 * pack_width && p.m <= rows_in_registers<4>) return by_tiles<4>(p, a, b, c, c_stride, low);
  by_tiles<tile_packs>(p, a, b, c, c_stride, low);
}

}  // namespace xgrad::detail
