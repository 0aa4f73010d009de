// Reducing axes of an array: sums, products, extremes.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// The sum over `axes`, ascending, as an array of shape `to`. Pairwise; the order depends on the sizes alone.
Array sum_over(const Array& x, const Axes& axes, const Shape& to);
/// The product, likewise.
Array product_over(const Array& x, const Axes& axes, const Shape& to);
/// The largest element; NaN if there is one; -inf if there are none.
Array max_over(const Array& x, const Axes& axes, const Shape& to);
/// The smallest element; NaN if there is one; inf if there are none.
Array min_over(const Array& x, const Axes& axes, const Shape& to);

}  // namespace xgrad
