// What a product of matrices on plain memory is given.
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

namespace xgrad {

namespace detail {
struct BfloatUnit;
}  // namespace detail

/// A factor of a product as it lies in memory: rows `stride` elements apart, each contiguous; taken transposed if
/// asked.
struct Factor {
  const Real* data = nullptr;
  std::int64_t stride = 0;
  bool transposed = false;
};

/// c = scale a b + keep c + bias,   a (m, k), b (k, n) after transposition, c (m, n) with rows `c_stride` elements
/// apart.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  Real scale = 1;
  Real keep = 0;               ///< 0: what c held does not matter, not even NaN
  const Real* bias = nullptr;  ///< (n), added to every row
  /// What multiplies the factors, rounded to bfloat16 (bfloat16.h); nullptr: nothing is rounded.
  const detail::BfloatUnit* unit = nullptr;
};

}  // namespace xgrad
