// Products in blocks: some columns of the right factor are packed, and stay in a near cache while all rows of the left
// factor meet them. The left factor is packed once for each block of the depth.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "../../../core/base/assert.h"
#include "../../../core/runtime/memory.h"
#include "../../../core/runtime/parallel.h"
#include "bfloat16.h"

namespace xgrad {
namespace {

using namespace detail;

// 32 rows of the left factor of this depth stay in the first-level cache while they meet columns. The sums of three
// parts start anew from zero after it, and stay as exact as those of float.
constexpr std::int64_t most_depth = 512;

// Memory for factors in tiles, of at most `lines` and `depth`.
class BfloatTiles {
 public:
  BfloatTiles(const Rounding& rounding, std::int64_t lines, std::int64_t depth)
      : rounding_(rounding),
        bytes_(static_cast<std::size_t>(rounding.parts * padded_lines(lines) * padded_depth(depth)) * sizeof(Bfloat16)),
        data_(static_cast<Bfloat16*>(pool_allocate(bytes_))) {}
  ~BfloatTiles() { pool_release(data_, bytes_); }
  BfloatTiles(const BfloatTiles&) = delete;
  BfloatTiles& operator=(const BfloatTiles&) = delete;

  // Packs a factor, in place of the one before, and returns it.
  BfloatFactor pack(BfloatPacking packing) const {
    packing.to = data_;
    packing.layout = in_tiles(packing.depth, rounding_.parts);
    packing.parts = rounding_.parts;
    static_cast<const BfloatUnit*>(rounding_.unit)->pack(packing);
    return {packing.to, packing.layout};
  }

 private:
  Rounding rounding_;
  std::size_t bytes_;
  Bfloat16* data_;
};

// The largest |x| of a factor (rows, columns), by its bits; those of NaN are above infinity's.
std::uint32_t largest_bits(const Factor& x, std::int64_t rows, std::int64_t columns) {
  if (x.transposed) std::swap(rows, columns);
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(columns, 1));
  std::vector<std::uint32_t> largest(static_cast<std::size_t>(rows / grain + 1));
  parallel_for(static_cast<std::int64_t>(largest.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece) {
      std::uint32_t most = 0;
      for (std::int64_t i = piece * grain; i < std::min(rows, (piece + 1) * grain); ++i) {
        const Real* const row = x.data + i * x.stride;
        for (std::int64_t j = 0; j < columns; ++j) {
          most = std::max(most, std::bit_cast<std::uint32_t>(static_cast<float>(row[j])) & 0x7fffffffu);
        }
      }
      largest[static_cast<std::size_t>(piece)] = most;
    }
  });
  return *std::ranges::max_element(largest);
}

}  // namespace

void detail::bfloat_gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride) {
  XGRAD_ASSERT(p.rounding.unit && p.m >= 1 && p.n >= 1 && p.k >= 1);
  const auto& unit = static_cast<const BfloatUnit&>(*p.rounding.unit);
  const int parts = p.rounding.parts;
  const std::int64_t blocks = (p.k + most_depth - 1) / most_depth;
  const std::int64_t most = padded_depth((p.k + blocks - 1) / blocks);
  // As many lines, in blocks of 32, as have this many elements.
  const auto lines_at_once = [&](std::int64_t numbers, std::int64_t lines) {
    return std::min(std::max<std::int64_t>(numbers / (most * parts) / 32, 1) * 32, padded_lines(lines));
  };
  const std::int64_t rows = lines_at_once(unit.most_left, p.m), columns = lines_at_once(unit.most_right, p.n);
  const BfloatTiles left(p.rounding, rows, most), right(p.rounding, columns, most);
  unit.start();  // what follows throws nothing
  for (std::int64_t k = 0; k < p.k; k += most) {
    const std::int64_t depth = std::min(most, p.k - k);
    BfloatFactor packed_b;
    for (std::int64_t i = 0; i < p.m; i += rows) {
      const std::int64_t height = std::min(rows, p.m - i);
      const BfloatFactor packed_a = left.pack({.from = a.from(i, k), .lines = height, .depth = depth});
      for (std::int64_t j = 0; j < p.n; j += columns) {
        const std::int64_t width = std::min(columns, p.n - j);
        if (i == 0 || columns < p.n) {
          packed_b = right.pack({.from = b.from(k, j), .side = BfloatSide::right, .lines = width, .depth = depth});
        }
        unit.multiply({.a = packed_a,
                       .b = packed_b,
                       .rows = height,
                       .columns = width,
                       .depth = depth,
                       .c = c + i * c_stride + j,
                       .c_stride = c_stride,
                       .scale = p.scale,
                       .keep = k == 0 ? p.keep : 1,
                       .bias = k == 0 && p.bias ? p.bias + j : nullptr,
                       .parts = parts});
      }
    }
  }
  unit.end();
}

bool detail::rounds(const Gemm& p, const Factor& a, const Factor& b) {
  const auto [unit, parts] = p.rounding;
  if (!unit || parts == 1) return unit;
  // Below, cutting and packing take longer than the products save: 2^18 multiplications in two parts, 2^24 in three.
  if (parts == 2 && (std::min(p.n, p.k) < 64 || p.m * p.n * p.k < 1 << 18)) return false;
  if (parts == 3 && std::min({p.m, p.n, p.k}) < 256) return false;
  constexpr auto limit = std::bit_cast<std::uint32_t>(0x1p127f);
  const std::uint32_t of_a = largest_bits(a, p.m, p.k), of_b = largest_bits(b, p.k, p.n);
  return of_a < limit && of_b < limit && double{std::bit_cast<float>(of_a)} * std::bit_cast<float>(of_b) >= 0x1p-60;
}

bool detail::multiplies_right(const BfloatUnit& unit) {
  constexpr std::int64_t m = 33, n = 33, k = 34;  // beyond two tiles each way
  const auto number = [](std::int64_t i) { return static_cast<Real>(i * 7 % 23 - 11); };
  std::vector<Real> a, b, c(m * n);
  for (std::int64_t i = 0; i < m * k; ++i) a.push_back(number(i));
  for (std::int64_t i = 0; i < k * n; ++i) b.push_back(number(3 * i));
  for (int parts = 1; parts <= unit.most_parts; ++parts) {
    bfloat_gemm({.m = m, .n = n, .k = k, .rounding = {&unit, parts}}, {a.data(), k}, {b.data(), n}, c.data(), n);
    for (std::int64_t i = 0; i < m; ++i) {
      Real row[n] = {};
      for (std::int64_t l = 0; l < k; ++l) {
        for (std::int64_t j = 0; j < n; ++j) row[j] += a.data()[i * k + l] * b.data()[l * n + j];
      }
      if (!std::equal(row, row + n, c.data() + i * n)) return false;
    }
  }
  return true;
}

detail::BfloatFound detail::best_bfloat_unit() {
  std::string_view missing;
  for (const auto find : {amx_unit, avx512_bf16_unit}) {
    const BfloatFound found = find();
    if (found.unit && multiplies_right(*found.unit)) return found;
    missing = found.unit ? "its instructions multiply wrongly" : found.missing;
  }
  return {nullptr, missing};
}

}  // namespace xgrad
