// Transposing square tiles in registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __AVX__
#include <immintrin.h>
#endif

#include "simd.h"

namespace xgrad::inline XGRAD_SIMD {

/// A square tile is as wide as a register.
template <class T>
inline constexpr int tile = sizeof(T) == 1 ? 16 : static_cast<int>(Pack::width * sizeof(Real) / sizeof(T));

#ifdef __AVX512F__
/// A tile of 16 x 16 floats, by instructions that exchange neighbours, which are faster than the permutations of the
/// general way.
inline void transpose_16(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride) {
  // Pairs of rows are interleaved, then pairs of these, in every 128 bits; two rounds more exchange those.
  const auto low = [](__m512d a, __m512d b) { return _mm512_castpd_ps(_mm512_unpacklo_pd(a, b)); };
  const auto high = [](__m512d a, __m512d b) { return _mm512_castpd_ps(_mm512_unpackhi_pd(a, b)); };
  __m512 a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_ps(from + i * from_stride);
  for (int i = 0; i < 16; i += 2) {
    b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
    b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    for (int j = 0; j < 2; ++j) {
      const __m512d p = _mm512_castps_pd(b[i + j]), q = _mm512_castps_pd(b[i + j + 2]);
      a[i + 2 * j] = low(p, q);
      a[i + 2 * j + 1] = high(p, q);
    }
  }
  for (int i = 0; i < 4; ++i) {
    b[i] = _mm512_shuffle_f32x4(a[i], a[i + 4], 0x88);
    b[i + 4] = _mm512_shuffle_f32x4(a[i], a[i + 4], 0xdd);
    b[i + 8] = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0x88);
    b[i + 12] = _mm512_shuffle_f32x4(a[i + 8], a[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    float* row = to + i * to_stride;
    _mm512_storeu_ps(row, _mm512_shuffle_f32x4(b[i], b[i + 8], 0x88));
    _mm512_storeu_ps(row + 8 * to_stride, _mm512_shuffle_f32x4(b[i], b[i + 8], 0xdd));
  }
}
#elif defined(__AVX__)
/// A tile of 8 x 8 floats: rows that are four apart are loaded into the halves of a register, which pairs of rows and
/// pairs of these then exchange, so that no number has to change its half.
inline void transpose_8(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride) {
  for (int half = 0; half < 8; half += 4) {
    __m256 a[4], b[4];
    for (int i = 0; i < 4; ++i) {
      const float* row = from + i * from_stride + half;
      a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row)), _mm_loadu_ps(row + 4 * from_stride), 1);
    }
    for (int i = 0; i < 4; i += 2) {
      b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
      b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
      const __m256d p = _mm256_castps_pd(b[i]), q = _mm256_castps_pd(b[i + 2]);
      float* row = to + (half + 2 * i) * to_stride;
      _mm256_storeu_ps(row, _mm256_castpd_ps(_mm256_unpacklo_pd(p, q)));
      _mm256_storeu_ps(row + to_stride, _mm256_castpd_ps(_mm256_unpackhi_pd(p, q)));
    }
  }
}
#endif

/// to[i to_stride + j] = from[i + j from_stride] for i, j < tile: rows into registers, then log2(tile) rounds that each
/// interleave register i with register i + tile / 2, then out.
template <class T>
void transpose_tile(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride) {
  constexpr int width = tile<T>;
#ifdef __AVX512F__
  if constexpr (std::is_same_v<T, float> && width == 16) return transpose_16(to, to_stride, from, from_stride);
#elif defined(__AVX__)
  if constexpr (std::is_same_v<T, float> && width == 8) return transpose_8(to, to_stride, from, from_stride);
#endif
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

/// to[i to_stride + j] = from[i + j from_stride] for i < height, j < width.
template <class T>
void transpose_rows(T* to, std::int64_t to_stride, const T* from, std::int64_t from_stride, std::int64_t height,
                    std::int64_t width) {
  for (std::int64_t i = 0; i < height; i += tile<T>) {
    for (std::int64_t j = 0; j < width; j += tile<T>) {
      T* out = to + i * to_stride + j;
      const T* in = from + i + j * from_stride;
      if (i + tile<T> <= height && j + tile<T> <= width) {
        transpose_tile(out, to_stride, in, from_stride);
      } else {
        for (std::int64_t p = 0; p < std::min<std::int64_t>(tile<T>, height - i); ++p) {
          for (std::int64_t q = 0; q < std::min<std::int64_t>(tile<T>, width - j); ++q) {
            out[p * to_stride + q] = in[p + q * from_stride];
          }
        }
      }
    }
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
