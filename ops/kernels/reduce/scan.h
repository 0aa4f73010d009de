// Scans along an axis: running sums, products and recurrences.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// The direction of a scan: from the first element on, or from the last back.
enum class ScanDirection { forwards, backwards };

/// y_i = the sum of all up to x_i, or from x_i on. In double: in sequence, rounding errors of float accumulate to a
/// percent in a million terms.
Array running_sum(const Array& x, int axis, ScanDirection direction);
/// y_i = the product of all up to x_i, in double.
Array running_product(const Array& x, int axis);
/// y_i = a_i y_(i-1) + b_i, or a_i y_(i+1) + b_i backwards, with 0 before the first; a and b of one shape. In double.
Array running_recurrence(const Array& a, const Array& b, int axis, ScanDirection direction);

}  // namespace xgrad
