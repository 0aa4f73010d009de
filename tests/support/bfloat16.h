// Rounding to bfloat16 number by number, and AMX in plain memory: what the instructions are held against.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include <xgrad/core/array/array.h>
#include <xgrad/ops/kernels/bfloat16/bfloat16.h>
#include <xgrad/ops/kernels/bfloat16/bfloat16_tiles.h>
#include <xgrad/ops/products/matmul_precision.h>

namespace xgrad::testing {

/// The bits of the nearest bfloat16, to even; 0 for subnormal numbers.
inline Bfloat16 bfloat16_bits(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if (std::isnan(x)) return static_cast<Bfloat16>(bits >> 16 | 0x40);
  if (std::fpclassify(x) == FP_SUBNORMAL) return static_cast<Bfloat16>(bits >> 16 & 0x8000);
  const std::uint32_t up = (bits >> 16 & 1) + 0x7fff;
  return static_cast<Bfloat16>((bits + up) >> 16);
}
inline float number_of(Bfloat16 bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
inline float rounded(float x) { return number_of(bfloat16_bits(x)); }
inline Array rounded(const Array& x) {
  Array y(x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) y.mutable_data()[i] = rounded(static_cast<float>(x.data()[i]));
  return y;
}

/// The tiles of one thread, as the manual defines the instructions. They refuse to work before they are configured.
class PlainTiles {
 public:
  static void start() { configured() = true; }
  static void end() { configured() = false; }
  template <int t>
  static void zero() {
    std::memset(tile(t), 0, sizeof(Bytes));
  }
  template <int t>
  static void load(const void* from, std::int64_t step) {
    for (int i = 0; i < 16; ++i) std::memcpy(tile(t) + 64 * i, static_cast<const char*>(from) + i * step, 64);
  }
  template <int t>
  static void store(void* to, std::int64_t step) {
    for (int i = 0; i < 16; ++i) std::memcpy(static_cast<char*>(to) + i * step, tile(t) + 64 * i, 64);
  }
  // tdpbf16ps: even and odd places of the pairs are summed apart, then together.
  template <int sum, int left, int right>
  static void multiply() {
    float c[16][16];
    Bfloat16 a[16][32], b[16][32];
    std::memcpy(c, tile(sum), sizeof(c));
    std::memcpy(a, tile(left), sizeof(a));
    std::memcpy(b, tile(right), sizeof(b));
    for (int i = 0; i < 16; ++i) {
      float even[16] = {}, odd[16] = {};
      for (int k = 0; k < 16; ++k) {
        const float first = number_of(a[i][2 * k]), second = number_of(a[i][2 * k + 1]);
        for (int j = 0; j < 16; ++j) {
          even[j] = std::fma(first, number_of(b[k][2 * j]), even[j]);
          odd[j] = std::fma(second, number_of(b[k][2 * j + 1]), odd[j]);
        }
      }
      for (int j = 0; j < 16; ++j) c[i][j] += even[j] + odd[j];
    }
    std::memcpy(tile(sum), c, sizeof(c));
  }

 private:
  using Bytes = std::array<char, 1024>;
  static bool& configured() {
    static thread_local bool yes = false;
    return yes;
  }
  static char* tile(int t) {
    static thread_local std::array<Bytes, 8> tiles;
    if (!configured()) throw std::logic_error("a tile is used before the tiles are configured");
    return tiles[static_cast<std::size_t>(t)].data();
  }
};

/// Packs as a unit has to, by one loop each.
inline void plain_pack_left(const Factor& a, std::int64_t rows, std::int64_t depth, Bfloat16* to) {
  for (std::int64_t i = 0; i < (rows + 15) / 16 * 16; ++i) {
    for (std::int64_t k = 0; k < detail::whole_depth(depth); ++k) {
      const bool there = i < rows && k < depth;
      const std::int64_t at = a.transposed ? k * a.stride + i : i * a.stride + k;
      to[i * detail::left_step(depth) + k] = there ? bfloat16_bits(static_cast<float>(a.data[at])) : Bfloat16(0);
    }
  }
}
inline void plain_pack_right(const Factor& b, std::int64_t depth, std::int64_t columns, Real scale, Bfloat16* to) {
  for (std::int64_t k = 0; k < detail::whole_depth(depth); ++k) {
    for (std::int64_t j = 0; j < detail::panel_columns; ++j) {
      const bool there = k < depth && j < columns;
      const std::int64_t at = b.transposed ? j * b.stride + k : k * b.stride + j;
      to[k / 2 * 2 * detail::panel_columns + 2 * j + k % 2] =
          there ? bfloat16_bits(static_cast<float>(scale * b.data[at])) : Bfloat16(0);
    }
  }
}

inline const detail::BfloatUnit plain_tiles_unit{"plain tiles",   PlainTiles::start, PlainTiles::end,
                                                 plain_pack_left, plain_pack_right,  multiply_by_tiles<PlainTiles>};

/// The units that can run here: tiles in plain memory, and what the processor has; its packing with plain tiles too.
inline std::vector<const detail::BfloatUnit*> bfloat_units() {
  std::vector<const detail::BfloatUnit*> units{&plain_tiles_unit};
  if (const detail::BfloatUnit* const registers = detail::avx512_bf16_unit()) {
    static const detail::BfloatUnit packed{"plain tiles, packed by AVX512-BF16",
                                           PlainTiles::start,
                                           PlainTiles::end,
                                           registers->pack_left,
                                           registers->pack_right,
                                           multiply_by_tiles<PlainTiles>};
    units.push_back(registers);
    units.push_back(&packed);
  }
  if (const detail::BfloatUnit* const tiles = detail::amx_unit()) units.push_back(tiles);
  return units;
}

/// Medium precision by this unit, while it lives. Threads: for tests that run alone.
class Medium {
 public:
  explicit Medium(const detail::BfloatUnit* unit) : before_(detail::exchange_bfloat_unit(unit)) {
    set_matmul_precision(MatmulPrecision::medium);
  }
  ~Medium() {
    set_matmul_precision(MatmulPrecision::highest);
    detail::exchange_bfloat_unit(before_);
  }
  Medium(const Medium&) = delete;
  Medium& operator=(const Medium&) = delete;

 private:
  const detail::BfloatUnit* before_;
};

}  // namespace xgrad::testing
