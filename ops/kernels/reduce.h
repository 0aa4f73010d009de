// Folding axes of an array: sums, products, extremes.
#pragma once

#include "../../core/array.h"

namespace xgrad {

/// The sum over `axes`, ascending, as an array of shape `to`. Pairwise; the order depends on the sizes alone.
Array sum_over(const Array& x, const Axes& axes, const Shape& to);
/// The product, likewise.
Array product_over(const Array& x, const Axes& axes, const Shape& to);
/// The largest element; NaN if there is one; -inf of nothing.
Array max_over(const Array& x, const Axes& axes, const Shape& to);
/// The smallest element; NaN if there is one; inf of nothing.
Array min_over(const Array& x, const Axes& axes, const Shape& to);

/// Whether sums run from the first element on or from the last one back.
enum class SumOrder { forwards, backwards };
/// y_i = the sum of all up to x_i, or from x_i on. In double: one after the other, rounding errors of float pile up to
/// a percent in a million terms.
Array running_sum(const Array& x, int axis, SumOrder order);

}  // namespace xgrad
