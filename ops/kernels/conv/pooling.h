// Max pooling of planes: the largest number in each window, and its position.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// The windows along one axis, each over inputs first ... last, at least one.
struct Windows {
  std::int64_t in = 0;
  std::int64_t out = 0;                       ///< windows
  std::int64_t longest = 0;                   ///< inputs in the longest window
  std::int64_t stride = 0;                    ///< from window to window
  std::int64_t full_begin = 0, full_end = 0;  ///< the windows that are `stride` apart and all of that length
  Index first, last;                          ///< (out)
};

/// Planes of rows.in columns.in < 2^31 numbers.
struct PooledPlanes {
  std::int64_t planes = 0;
  Windows rows, columns;

  std::int64_t in() const { return rows.in * columns.in; }
  std::int64_t out() const { return rows.out * columns.out; }
};

/// y = the largest number of each window, the last NaN if there is one; `positions`, unless nullptr, gets its position
/// in the plane, the first of equal ones.
void max_of_windows(const PooledPlanes& sizes, const Real* x, Real* y, std::int64_t* positions);

/// y_pj = x_p(places_pj) for planes of `in` and of `out` numbers.
void take_places(std::int64_t planes, std::int64_t in, std::int64_t out, const std::int64_t* positions, const Real* x,
                 Real* y);
/// Its dual: x = 0, then x_p(places_pj) += y_pj in the order of j.
void add_places(std::int64_t planes, std::int64_t in, std::int64_t out, const std::int64_t* positions, const Real* y,
                Real* x);

}  // namespace xgrad
