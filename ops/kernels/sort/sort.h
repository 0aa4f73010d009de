// Elements by their order along an axis: the first ones, the k-th, the extreme. NaN counts as larger
// than every number, and -0 is 0.
#pragma once

#include <cstdint>

#include "../../../core/array/array.h"

namespace xgrad {

/// Whether a comes before b.
inline bool precedes(Real a, Real b) { return a < b || (a == a && b != b); }
inline bool precedes(std::int64_t a, std::int64_t b) { return a < b; }

/// The positions of the first `count` elements along the axis, stable. T is Real or std::int64_t.
template <class T>
Index first_in_order(const BasicArray<T>& x, int axis, std::int64_t count, bool descending);

/// The order of NaN for the k-th element.
enum class NanOrder {
  last,  ///< it is larger than every number
  wins,  ///< the first NaN, if there is one, is the result
};
/// The position of the k-th smallest element (from 0) along the axis, of which the result has size 1; of equal ones
/// that at this place in the stable order.
Index kth_in_order(const Array& x, int axis, std::int64_t k, NanOrder nan);

/// The position of the largest (smallest) element, the first of equal ones, or of the first NaN; the axis has size 1.
Index first_extreme(const Array& x, int axis, bool largest);

}  // namespace xgrad
