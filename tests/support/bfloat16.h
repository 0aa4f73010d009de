// Rounding to bfloat16 number by number, and AMX in plain memory: what the instructions are held against.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

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

/// Subnormal numbers are zeros to AMX.
inline float flushed(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.f, x) : x;
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
  // tdpbf16ps: even and odd places of the depth are summed apart, then together. AMX was seen to give these bits in
  // 102,400 sums of 102,400.
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
        const float first = flushed(number_of(a[i][2 * k])), second = flushed(number_of(a[i][2 * k + 1]));
        for (int j = 0; j < 16; ++j) {
          even[j] = flushed(std::fma(first, flushed(number_of(b[k][2 * j])), even[j]));
          odd[j] = flushed(std::fma(second, flushed(number_of(b[k][2 * j + 1])), odd[j]));
        }
      }
      for (int j = 0; j < 16; ++j) c[i][j] = flushed(flushed(c[i][j]) + flushed(even[j] + odd[j]));
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

/// The parts of a number, the largest first: the upper half of what is left, rounded away from zero at a tie; at last to
/// nearest even.
inline std::array<Bfloat16, 3> parts_of(float x, int parts) {
  std::array<Bfloat16, 3> result{};
  for (int part = 0; part < parts; ++part) {
    auto& bits = result[static_cast<std::size_t>(part)];
    if (part + 1 == parts) {
      bits = bfloat16_bits(x);
    } else {
      const float upper = std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x8000u) & 0xffff0000u);
      bits = bfloat16_bits(upper);
      x -= upper;
    }
  }
  return result;
}

/// Packs as a unit has to, number by number.
inline void plain_pack(const detail::BfloatPacking& p) {
  using detail::tile_depth, detail::tile_lines;
  const bool left = p.side == detail::BfloatSide::left;
  for (std::int64_t line = 0; line < detail::padded_lines(p.lines); ++line) {
    for (std::int64_t k = 0; k < detail::padded_depth(p.depth); ++k) {
      const bool there = line < p.lines && k < p.depth, by_lines = left != p.from.transposed;
      const std::int64_t row = by_lines ? line : k, column = by_lines ? k : line;
      const float x = there ? static_cast<float>(p.from.data[row * p.from.stride + column]) : 0;
      const std::int64_t i = line % tile_lines, j = k % tile_depth;
      const std::int64_t in_tile = left ? i * tile_depth + j : j / 2 * tile_depth + 2 * i + j % 2;
      const std::array<Bfloat16, 3> parts = parts_of(x, p.parts);
      for (int part = 0; part < p.parts; ++part) {
        p.to[line / tile_lines * p.layout.across + k / tile_depth * p.layout.along + part * detail::tile_size + in_tile] =
            parts[static_cast<std::size_t>(part)];
      }
    }
  }
}

inline const detail::BfloatUnit plain_tiles_unit{
    {"plain tiles", 3, detail::rounds, detail::bfloat_gemm}, 1 << 17,    1 << 17,
    PlainTiles::start, PlainTiles::end,                      plain_pack, multiply_by_tiles<PlainTiles>};

/// The units that can run here: tiles in plain memory, and what the processor has; its packing with plain tiles too.
inline std::vector<const detail::BfloatUnit*> bfloat_units() {
  std::vector<const detail::BfloatUnit*> units{&plain_tiles_unit};
  if (const detail::BfloatUnit* const registers = detail::avx512_bf16_unit().unit) {
    static const detail::BfloatUnit packed = [&] {
      detail::BfloatUnit unit = plain_tiles_unit;
      unit.name = "plain tiles, packed by AVX512-BF16";
      unit.pack = registers->pack;
      return unit;
    }();
    units.push_back(registers);
    units.push_back(&packed);
  }
  if (const detail::BfloatUnit* const tiles = detail::amx_unit().unit) units.push_back(tiles);
  if (units.size() < 4) {
    [[maybe_unused]] static const bool once = [] {
      MESSAGE("skipped: units for bfloat16 that this processor has not");
      return true;
    }();
  }
  return units;
}

/// A precision by this unit, while it lives. Threads: for tests that run alone.
class WithUnit {
 public:
  explicit WithUnit(const detail::BfloatUnit* unit, MatmulPrecision precision = MatmulPrecision::medium)
      : before_(detail::exchange_bfloat_unit(unit)) {
    set_matmul_precision(precision);
  }
  ~WithUnit() {
    set_matmul_precision(MatmulPrecision::highest);
    detail::exchange_bfloat_unit(before_);
  }
  WithUnit(const WithUnit&) = delete;
  WithUnit& operator=(const WithUnit&) = delete;

 private:
  const detail::RoundingUnit* before_;
};

}  // namespace xgrad::testing
