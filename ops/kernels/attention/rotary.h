// Rotary positions, row by row.
#pragma once

#include <cstdint>

#include "../../../core/array/array.h"

namespace xgrad {

/// Rows of `heads` times d numbers; row i is at position i % positions of its sequence. Pair j of a head rotates by the
/// angle of (cosines, sines), (positions, d / 2) each: columns j step and j step + distance.
struct RotaryRows {
  std::int64_t rows, positions, heads, d;
  std::int64_t stride, distance;
  const Real* cosines;
  const Real* sines;
  Real direction;  ///< 1, or -1: by the opposite angle
};

/// Writes the rotated rows of x to y.
void rotate_rows(const RotaryRows& in, const Real* x, Real* y);

}  // namespace xgrad
