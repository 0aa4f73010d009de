// Variances along axes, and their gradient, with each line in the cache while it is gone through several times.
#pragma once

#include "../../core/array.h"

namespace xgrad {

/// The sum of (x_i - mean)^2 over `axes`, in an array of shape `to`. The mean, rounded to one number, can be as far off as the
/// deviations are large; so these are centred again.
Array squared_deviations(const Array& x, const Axes& axes, const Shape& to);

/// (x - mean) slope, the mean as above, `slope` one number for each line, of the shape of x with size 1 along `axes`.
Array scaled_deviations(const Array& x, const Axes& axes, const Array& slope);

}  // namespace xgrad
