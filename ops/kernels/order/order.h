// Elements by their order along an axis: the first ones, the k-th, the most frequent, the extreme. NaN counts as larger
// than every number, and -0 is 0.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../../core/array/array.h"

namespace xgrad {

using OrderKey = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

/// A whole number that grows with the value: the sign bit decides the order of the other bits.
inline OrderKey order_key(Real value) {
  if (std::isnan(value)) return ~OrderKey{0};
  constexpr OrderKey sign = OrderKey{1} << (8 * sizeof(OrderKey) - 1);
  const auto bits = std::bit_cast<OrderKey>(value + Real(0));
  return bits & sign ? ~bits : bits | sign;
}

/// The positions of the first `count` elements along the axis, stable.
Index first_in_order(const Array& x, int axis, std::int64_t count, bool descending);

/// The positions of these keys in sorted order, stable.
std::vector<std::int64_t> positions_in_order(const std::vector<OrderKey>& keys);

/// The order of NaN for the k-th element.
enum class NanOrder {
  last,  ///< it is larger than every number
  wins,  ///< the first NaN, if there is one, is the result
};
/// The position of the k-th smallest element (from 0) along the axis, of which the result has size 1; of equal ones
/// that at this place in the stable order.
Index kth_in_order(const Array& x, int axis, std::int64_t k, NanOrder nan);

/// The last position of the most frequent element, the smallest of equally frequent ones; the axis has size 1.
Index most_frequent(const Array& x, int axis);

/// The position of the largest (smallest) element, the first of equal ones, or of the first NaN; the axis has size 1.
Index first_extreme(const Array& x, int axis, bool largest);

}  // namespace xgrad
