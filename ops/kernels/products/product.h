// Products of matrices on plain memory.
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

namespace xgrad {

namespace detail {
struct RoundingUnit;
}  // namespace detail

/// How the numbers of factors are rounded: to the sum of `parts` bfloat16 numbers (1 to 3), which `unit` multiplies.
/// Not at all if the unit is nullptr.
struct Rounding {
  const detail::RoundingUnit* unit = nullptr;
  int parts = 1;
};

/// A factor of a product in memory: rows `stride` elements apart, each contiguous; transposed if `transposed` is set.
struct Factor {
  const Real* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;

  /// The factor from this row and column on.
  Factor from(std::int64_t row, std::int64_t column) const {
    const std::int64_t offset = transposed ? row + column * stride : row * stride + column;
    return {data + offset, stride, transposed};
  }
};

/// c = scale a b + keep c + bias,   a (m, k), b (k, n) after transposition, c (m, n) with the row stride `c_stride`.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  Real scale = 1;
  Real keep = 0;               ///< 0: the old c is ignored, even NaN
  const Real* bias = nullptr;  ///< (n), added to every row
  Rounding rounding = {};
};

/// Computes the product, with several threads if it is large. Equal bits for any number of threads. Any size may be 0.
/// Thread-safe.
void gemm(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);

namespace detail {
/// Products by instructions for other numbers (ops/kernels/bfloat16, which a build may leave out).
struct RoundingUnit {
  const char* name;  ///< "AMX", "AVX512-BF16"
  int most_parts;    ///< 3 where three parts are faster than float, else 1
  /// Whether this product is rounded, and the product, on the calling thread; sizes are at least 1. An element of c has
  /// the same bits whichever part of c is computed with it.
  bool (*rounds)(const Gemm& p, const Factor& a, const Factor& b);
  void (*gemm)(const Gemm& p, const Factor& a, const Factor& b, Real* c, std::int64_t c_stride);
};
}  // namespace detail

}  // namespace xgrad
