// Packing and multiplying by AVX512-BF16. A build for this processor may use its instructions everywhere; where kernels
// are compiled for all processors with AVX-512, only these functions use them, after a check of the processor.
#include "bfloat16.h"

#if defined(__AVX512F__) && !defined(XGRAD_F64)
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "../registers/multiply_add.h"
#include "../registers/transpose.h"

#define XGRAD_BFLOAT16 [[gnu::target("avx512bw,avx512bf16")]]

namespace xgrad {
namespace {

using namespace detail;

// The first `count` of 16 lanes, none if it is negative.
__mmask16 first(std::int64_t count) {
  return static_cast<__mmask16>((1u << std::clamp<std::int64_t>(count, 0, 16)) - 1);
}

// The first `count` of 16 elements, then zeros. For a count of 0, nothing is read: a load with an empty mask takes
// hundreds of cycles if its address is not mapped.
__m512 load_up_to(const float* from, std::int64_t count) {
  if (count >= 16) return _mm512_loadu_ps(from);
  return count > 0 ? _mm512_maskz_loadu_ps(first(count), from) : _mm512_setzero_ps();
}

// The elements of two registers, concatenated or interleaved, rounded to nearest even.
template <bool interleaved>
XGRAD_BFLOAT16 __m512i join(__m512 first, __m512 second) {
  const __m512i row = (__m512i)_mm512_cvtne2ps_pbh(second, first);
  if constexpr (!interleaved) return row;
  return _mm512_permutexvar_epi16(_mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7,
                                                   22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0),
                                  row);
}

// The largest part of each number, its upper half rounded away from zero at a tie, which is taken off it.
__m512 take_upper_half(__m512& x) {
  const __m512i rounded = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  const __m512 half = _mm512_castsi512_ps(_mm512_and_si512(rounded, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
  x = _mm512_sub_ps(x, half);
  return half;
}

// Loads up to 16 neighbours, `count`, of a row of a matrix.
struct LineLoader {
  const float* from;
  std::int64_t stride, count;
  LineLoader(const BfloatPacking& p, std::int64_t first, std::int64_t n)
      : from(p.from.data + first), stride(p.from.stride), count(n) {}
  __m512 load(std::int64_t row) const { return load_up_to(from + row * stride, count); }
};

// The parts of one tile. `along`: rows of the matrix go along the depth; else across the lines.
template <int parts, bool along>
XGRAD_BFLOAT16 void pack_tile(const BfloatPacking& p, std::int64_t line, std::int64_t k, Bfloat16* to) {
  const std::int64_t lines = p.lines - line, depth = p.depth - k;
  const LineLoader line_loader(p, along ? k : line, along ? depth : lines),
      next_loader(p, k + 16, along ? depth - 16 : 0);
  const bool direct = along == (p.side == BfloatSide::left);
  alignas(64) float rows[parts][16 * 16];  // each of 32 numbers
  for (std::int64_t i = 0; i < tile_lines; ++i) {
    __m512 first = _mm512_setzero_ps(), second = first;
    if constexpr (along) {
      if (i < lines) {
        first = line_loader.load(line + i);
        second = next_loader.load(line + i);
      }
    } else {
      if (2 * i < depth) first = line_loader.load(k + 2 * i);
      if (2 * i + 1 < depth) second = line_loader.load(k + 2 * i + 1);
    }
    XGRAD_UNROLL
    for (int part = 0; part < parts; ++part) {
      __m512i row;
      if (part + 1 < parts) {
        const __m512 a = take_upper_half(first), b = take_upper_half(second);
        row = join<!along>(a, b);
      } else {
        row = join<!along>(first, second);
      }
      if (direct) {
        _mm512_storeu_si512(to + part * tile_size + i * tile_depth, row);
      } else {
        _mm512_store_si512(rows[part] + 16 * i, row);
      }
    }
  }
  // Pairs of numbers change place, so that rows of the left factor become columns of the right one.
  for (int part = 0; !direct && part < parts; ++part) {
    transpose_16(reinterpret_cast<float*>(to + part * tile_size), 16, rows[part], 16);
  }
}

// Tiles in the order in which the numbers of the factor are in memory.
template <int parts>
void pack_parts(const BfloatPacking& p) {
  const bool along = (p.side == BfloatSide::left) != p.from.transposed;
  const std::int64_t across = padded_lines(p.lines) / tile_lines, depth = padded_depth(p.depth) / tile_depth;
  for (std::int64_t outer = 0; outer < (along ? across : depth); ++outer) {
    for (std::int64_t inner = 0; inner < (along ? depth : across); ++inner) {
      const std::int64_t line = along ? outer : inner, k = along ? inner : outer;
      Bfloat16* const to = p.to + line * p.layout.across + k * p.layout.along;
      (along ? pack_tile<parts, true> : pack_tile<parts, false>)(p, line * tile_lines, k * tile_depth, to);
    }
  }
}

void pack(const BfloatPacking& p) { (p.parts == 1 ? pack_parts<1> : p.parts == 2 ? pack_parts<2> : pack_parts<3>)(p); }

constexpr int block_rows = 8, block_packs = 3;

// `rows` rows of one tile of the left factor, `packs` tiles of columns, the last of which may not be whole.
template <int rows, int packs>
XGRAD_BFLOAT16 void multiply_rows(const BfloatBlock& given) {
  __m512 sum[rows][packs];
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j] = _mm512_setzero_ps();
  }
  BfloatFactor tile_a = given.a, tile_b = given.b;
  for (std::int64_t depth = given.depth; depth > 0; depth -= tile_depth) {
    const Bfloat16 *a = tile_a.data, *b = tile_b.data;
    for (std::int64_t k = 0; k < std::min(depth, tile_depth); k += 2, a += 2, b += tile_depth) {
      __m512i right[packs];
      XGRAD_UNROLL
      for (int j = 0; j < packs; ++j) right[j] = _mm512_loadu_si512(b + j * tile_b.layout.across);
      XGRAD_UNROLL
      for (int i = 0; i < rows; ++i) {
        std::int32_t pair;
        std::memcpy(&pair, a + i * tile_depth, sizeof(pair));
        const __m512i left = _mm512_broadcastd_epi32(_mm_cvtsi32_si128(pair));  // clang 16 ends at _mm512_set1_epi32
        XGRAD_UNROLL
        for (int j = 0; j < packs; ++j) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], (__m512bh)left, (__m512bh)right[j]);
      }
    }
    tile_a.data += tile_a.layout.along;
    tile_b.data += tile_b.layout.along;
  }
  const BfloatBlock block = given;  // that no store to c can change
  const __m512 scale = _mm512_set1_ps(block.scale), keep = _mm512_set1_ps(block.keep);
  XGRAD_UNROLL
  for (int j = 0; j < packs; ++j) {
    const std::int64_t count = block.columns - 16 * j;
    const __m512 bias = block.bias ? load_up_to(block.bias + 16 * j, count) : _mm512_setzero_ps();
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      float* const to = block.c + i * block.c_stride + 16 * j;
      __m512 value = _mm512_fmadd_ps(scale, sum[i][j], bias);
      if (block.keep != 0) value = _mm512_fmadd_ps(keep, load_up_to(to, count), value);
      if (count >= 16) {
        _mm512_storeu_ps(to, value);  // the next load of it need not wait, as after a masked store
      } else {
        _mm512_mask_storeu_ps(to, first(count), value);
      }
    }
  }
}

// multiply_rows<rows, packs> for rows = 1 ... block_rows.
template <int packs>
constexpr auto multiply_some = by_rows_at_once<block_rows>([](auto rows) { return multiply_rows<rows, packs>; });

void multiply(const BfloatBlock& block) {
  const std::int64_t all_packs = padded_lines(block.columns) / tile_lines;
  for (std::int64_t pack = 0; pack < all_packs; pack += block_packs) {
    const std::int64_t packs = std::min<std::int64_t>(block_packs, all_packs - pack);
    const auto& some = packs == 1 ? multiply_some<1> : packs == 2 ? multiply_some<2> : multiply_some<3>;
    BfloatBlock part = block;
    part.b.data += pack * block.b.layout.across;
    part.columns = std::min(packs * tile_lines, block.columns - pack * tile_lines);
    if (block.bias) part.bias += pack * tile_lines;
    for (std::int64_t i = 0; i < block.rows; i += block_rows) {
      part.a.data = block.a.data + i / tile_lines * block.a.layout.across + i % tile_lines * tile_depth;
      part.c = block.c + i * block.c_stride + pack * tile_lines;
      some[static_cast<std::size_t>(std::min<std::int64_t>(block_rows, block.rows - i) - 1)](part);
    }
  }
}

}  // namespace

BfloatFound detail::avx512_bf16_unit() {
  static constexpr BfloatUnit unit{
      {"AVX512-BF16", 1, rounds, bfloat_gemm}, 1 << 17, 1 << 20, [] {}, [] {}, pack, multiply};
  if (__builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw")) return {&unit};
  return {nullptr, "the processor has neither AMX nor AVX512-BF16"};
}

}  // namespace xgrad

#else

namespace xgrad {
detail::BfloatFound detail::avx512_bf16_unit() {
  return {nullptr, sizeof(Real) == sizeof(double) ? "numbers are double" : "the kernels were not compiled for AVX-512"};
}
}  // namespace xgrad

#endif
