// Scans along an axis: running sums, products and extremes.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// The direction of a scan: from the first element on, or from the last back.
enum class ScanOrder { forwards, backwards };

/// y_i = the sum of all up to x_i, or from x_i on. In double: in sequence, rounding errors of float accumulate to a
/// percent in a million terms.
Array running_sum(const Array& x, int axis, ScanOrder order);
/// y_i = the product of all up to x_i, in double.
Array running_product(const Array& x, int axis);
/// y_i = a_i y_(i-1) + b_i, or a_i y_(i+1) + b_i backwards, with 0 before the first; a and b of one shape. In double.
Array running_recurrence(const Array& a, const Array& b, int axis, ScanOrder order);
/// y_i = ln of the sum of e^x_j up to i, without overflow: -inf as long as all are -inf, inf from the first inf on,
/// NaN from the first NaN on.
Array running_logsumexp(const Array& x, int axis);
/// The largest (smallest) of all up to x_i and its position: the last of equal ones, from a NaN on the last NaN.
struct RunningExtremes {
  Array values;
  Index positions;
};
RunningExtremes running_extremes(const Array& x, int axis, bool largest);

}  // namespace xgrad
