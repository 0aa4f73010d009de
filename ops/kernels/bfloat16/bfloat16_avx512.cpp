// Packing and multiplying by AVX512-BF16. A build for this processor may use its instructions everywhere; where kernels
// are compiled for all processors with AVX-512, only these functions use them, after a check of the processor.
#include "bfloat16.h"

#if defined(__AVX512F__) && !defined(XGRAD_F64)
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

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

// `count` numbers of 16, the rest zeros. Without any, nothing is read: a load with an empty mask takes hundreds of
// cycles if its address is not mapped.
__m512 numbers_at(const float* from, std::int64_t count) {
  if (count >= 16) return _mm512_loadu_ps(from);
  return count > 0 ? _mm512_maskz_loadu_ps(first(count), from) : _mm512_setzero_ps();
}

// 32 numbers in a row, of which there are `count`.
XGRAD_BFLOAT16 __m512i row_of(const float* from, std::int64_t count, __m512 scale) {
  const __m512 low = numbers_at(from, count), high = numbers_at(from + 16, count - 16);
  return (__m512i)_mm512_cvtne2ps_pbh(_mm512_mul_ps(scale, high), _mm512_mul_ps(scale, low));
}

// The numbers of two rows in turn: 16 pairs.
XGRAD_BFLOAT16 __m512i pairs_of(__m512 even, __m512 odd) {
  const __m512i in_turn = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(in_turn, (__m512i)_mm512_cvtne2ps_pbh(odd, even));
}

// 16 rows of 16 pairs, whose rows become columns.
class Square {
 public:
  XGRAD_BFLOAT16 void set_row(std::int64_t i, __m512i pairs) { _mm512_store_si512(numbers_ + 16 * i, pairs); }
  // Rows `step` numbers apart.
  void write_transposed(Bfloat16* to, std::int64_t step) const {
    transpose_16(reinterpret_cast<float*>(to), step / 2, numbers_, 16);
  }

 private:
  alignas(64) float numbers_[256];
};

XGRAD_BFLOAT16 void pack_left_rows(const Factor& a, std::int64_t rows, std::int64_t depth, Bfloat16* to) {
  const __m512 one = _mm512_set1_ps(1);
  const std::int64_t step = left_step(depth);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < depth; k += 32) {
      _mm512_storeu_si512(to + i * step + k, row_of(a.data + i * a.stride + k, depth - k, one));
    }
  }
  std::fill(to + rows * step, to + left_size(rows, depth), Bfloat16(0));
}

XGRAD_BFLOAT16 void pack_left_columns(const Factor& a, std::int64_t rows, std::int64_t depth, Bfloat16* to) {
  const std::int64_t step = left_step(depth);
  Square square;
  for (std::int64_t k = 0; k < depth; k += 32) {
    for (std::int64_t i = 0; i < rows; i += 16) {
      const float* from = a.data + k * a.stride + i;
      for (std::int64_t pair = 0; pair < 16; ++pair, from += 2 * a.stride) {
        const __m512 even = numbers_at(from, k + 2 * pair < depth ? rows - i : 0);
        const __m512 odd = numbers_at(from + a.stride, k + 2 * pair + 1 < depth ? rows - i : 0);
        square.set_row(pair, pairs_of(even, odd));
      }
      square.write_transposed(to + i * step + k, step);
    }
  }
}

XGRAD_BFLOAT16 void pack_right_rows(const Factor& b, std::int64_t depth, std::int64_t columns, float scale,
                                    Bfloat16* to) {
  const __m512 factor = _mm512_set1_ps(scale);
  const float* from = b.data;
  for (std::int64_t k = 0; k < whole_depth(depth); k += 2, from += 2 * b.stride, to += 2 * panel_columns) {
    const bool even = k < depth, odd = k + 1 < depth;
    for (std::int64_t j = 0; j < panel_columns; j += 16) {
      const __m512 upper = numbers_at(from + j, even ? columns - j : 0);
      const __m512 lower = numbers_at(from + b.stride + j, odd ? columns - j : 0);
      _mm512_storeu_si512(to + 2 * j, pairs_of(_mm512_mul_ps(factor, upper), _mm512_mul_ps(factor, lower)));
    }
  }
}

XGRAD_BFLOAT16 void pack_right_columns(const Factor& b, std::int64_t depth, std::int64_t columns, float scale,
                                       Bfloat16* to) {
  const __m512 factor = _mm512_set1_ps(scale);
  Square square;
  for (std::int64_t k = 0; k < depth; k += 32) {
    for (std::int64_t j = 0; j < panel_columns; j += 16) {
      for (std::int64_t i = 0; i < 16; ++i) {
        const std::int64_t there = j + i < columns ? depth - k : 0;
        square.set_row(i, row_of(b.data + (j + i) * b.stride + k, there, factor));
      }
      square.write_transposed(to + k * panel_columns + 2 * j, 2 * panel_columns);
    }
  }
}

void pack_left(const Factor& a, std::int64_t rows, std::int64_t depth, Bfloat16* to) {
  a.transposed ? pack_left_columns(a, rows, depth, to) : pack_left_rows(a, rows, depth, to);
}

void pack_right(const Factor& b, std::int64_t depth, std::int64_t columns, float scale, Bfloat16* to) {
  b.transposed ? pack_right_columns(b, depth, columns, scale, to) : pack_right_rows(b, depth, columns, scale, to);
}

constexpr int packs_of_panel = 2;
constexpr int block_rows = (registers - packs_of_panel - 1) / packs_of_panel;

// `rows` rows and `packs` registers of columns, the last of which may not be whole.
template <int rows, int packs>
XGRAD_BFLOAT16 void multiply_rows(const BfloatBlock& given) {
  const BfloatBlock block = given;  // that no store to c can change
  __m512 sum[rows][packs];
  XGRAD_UNROLL
  for (int i = 0; i < rows; ++i) {
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) sum[i][j] = _mm512_setzero_ps();
  }
  const Bfloat16 *a = block.a, *b = block.b;
  const std::int64_t a_step = block.a_step;
  for (std::int64_t k = 0; k < block.depth; k += 2, a += 2, b += 2 * panel_columns) {
    __m512i right[packs];
    XGRAD_UNROLL
    for (int j = 0; j < packs; ++j) right[j] = _mm512_loadu_si512(b + 32 * j);
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      std::int32_t pair;
      std::memcpy(&pair, a + i * a_step, sizeof(pair));
      const __m512i left = _mm512_set1_epi32(pair);
      XGRAD_UNROLL
      for (int j = 0; j < packs; ++j) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], (__m512bh)left, (__m512bh)right[j]);
    }
  }
  const __m512 scale = _mm512_set1_ps(block.scale), keep = _mm512_set1_ps(block.keep);
  XGRAD_UNROLL
  for (int j = 0; j < packs; ++j) {
    const std::int64_t count = block.columns - 16 * j;
    const __m512 bias = block.bias ? numbers_at(block.bias + 16 * j, count) : _mm512_setzero_ps();
    XGRAD_UNROLL
    for (int i = 0; i < rows; ++i) {
      float* const to = block.c + i * block.c_step + 16 * j;
      __m512 value = _mm512_fmadd_ps(scale, sum[i][j], bias);
      if (block.keep != 0) value = _mm512_fmadd_ps(keep, numbers_at(to, count), value);
      if (count >= 16) {
        _mm512_storeu_ps(to, value);  // the next load of it need not wait, as behind a mask
      } else {
        _mm512_mask_storeu_ps(to, first(count), value);
      }
    }
  }
}

using MultiplyRows = void (*)(const BfloatBlock&);

// multiply_rows<rows, packs> for rows = 1 ... block_rows.
template <int packs>
constexpr auto multiply_some = []<int... i>(std::integer_sequence<int, i...>) {
  return std::array<MultiplyRows, sizeof...(i)>{multiply_rows<i + 1, packs>...};
}(std::make_integer_sequence<int, block_rows>());

void multiply_blocks(const BfloatBlock& block) {
  const auto& some = block.columns <= 16 ? multiply_some<1> : multiply_some<packs_of_panel>;
  // Of about equal height: a low one at the end would wait for its few sums.
  const std::int64_t blocks = (block.rows + block_rows - 1) / block_rows;
  for (std::int64_t n = 0, i = 0; n < blocks; ++n) {
    const std::int64_t end = block.rows * (n + 1) / blocks;
    BfloatBlock part = block;
    part.a += i * block.a_step;
    part.c += i * block.c_step;
    some[static_cast<std::size_t>(end - i - 1)](part);
    i = end;
  }
}

}  // namespace

const BfloatUnit* detail::avx512_bf16_unit() {
  static constexpr BfloatUnit unit{"AVX512-BF16", [] {}, [] {}, pack_left, pack_right, multiply_blocks};
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") ? &unit : nullptr;
}

}  // namespace xgrad

#else

namespace xgrad {
const detail::BfloatUnit* detail::avx512_bf16_unit() { return nullptr; }
}  // namespace xgrad

#endif
