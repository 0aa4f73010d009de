// Variances along axes, and their gradient, with each line in the cache while it is read several times.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// Measures of the spread of numbers around their mean.
enum class Spread {
  variance,  ///< the sum of (x_i - mean)^2, divided by `freedom`
  deviation  ///< its square root
};
/// The spread of x over `axes`, in an array of shape `to`, also where sums or squares leave the range. The mean,
/// rounded to one number, can be as far off as the deviations are large; so these are centred again.
Array spread_over(const Array& x, const Axes& axes, const Shape& to, Real freedom, Spread spread);

/// (x - mean) slope/unit, the mean as above, of the shape of x. `slope` and `unit` have one number for each line; a
/// unit of no numbers is 1.
Array scaled_deviations(const Array& x, const Axes& axes, const Array& slope, const Array& unit = {});

}  // namespace xgrad
