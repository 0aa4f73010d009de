// ln sum e^x along axes, and its gradient, with each line in the cache while it is read twice.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// For each line: its largest number m, the sum of all e^(x_i - m), and y = m + ln of that. Where m is inf, the sum counts
/// the infinities; y is m wherever m is not finite.
struct LogSumExp {
  Array most, sum, y;
};
/// Along `axes` of x, in arrays of shape `to`.
LogSumExp logsumexp_over(const Array& x, const Axes& axes, const Shape& to);

/// gx_i = gy e^(x_i - m) / sum, one gy, m and sum for each line. Not e^(x_i - y): y is one rounded number, and its
/// rounding error is a relative error here. Where m is inf, the infinities share gy; where it is -inf, the gradient is 0.
Array logsumexp_gradient(const Array& x, const Axes& axes, const LogSumExp& sums, const Array& gy);

}  // namespace xgrad
