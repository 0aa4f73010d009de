// The arguments of a product of matrices on plain memory.
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

namespace xgrad {

namespace detail {
struct BfloatUnit;
}  // namespace detail

/// How the numbers of factors are rounded: to the sum of `parts` bfloat16 numbers (1 to 3), which `unit` multiplies
/// (bfloat16.h). Not at all if the unit is nullptr.
struct Rounding {
  const detail::BfloatUnit* unit = nullptr;
  int parts = 1;
};

/// A factor of a product in memory: rows `stride` elements apart, each contiguous; transposed if `transposed` is set.
struct Factor {
  const Real* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

/// c = scale a b + keep c + bias,   a (m, k), b (k, n) after transposition, c (m, n) with the row stride `c_stride`.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  Real scale = 1;
  Real keep = 0;               ///< 0: the old c is ignored, even NaN
  const Real* bias = nullptr;  ///< (n), added to every row
  bool c_transposed = false;   ///< c is (n, m) in memory, and the bias (m), added to every column
  Rounding rounding = {};
};

}  // namespace xgrad
