// Trigonometric and hyperbolic functions, and their inverses. (sin, cos and tanh are in elementwise.h.) All are
// elementwise, with angles in radians; outside its domain a function is NaN.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// y = sin x / cos x                    dy/dx = 1 + y^2
Tensor tan(const Tensor& x);
/// The angle in [-pi/2, pi/2] whose sine is x, for x in [-1, 1].      dy/dx = 1/sqrt(1 - x^2)
Tensor asin(const Tensor& x);
/// The angle in [0, pi] whose cosine is x, for x in [-1, 1].          dy/dx = -1/sqrt(1 - x^2)
Tensor acos(const Tensor& x);
/// The angle in [-pi/2, pi/2] whose tangent is x.                     dy/dx = 1/(1 + x^2)
Tensor atan(const Tensor& x);
/// The angle in [-pi, pi] from the first axis to the point (b, a), with broadcasting. Throws ShapeError.
/// dy/da = b/(a^2 + b^2)      dy/db = -a/(a^2 + b^2), both 0 at the origin
Tensor atan2(const Tensor& a, const Tensor& b);

/// y = (e^x - e^-x)/2                   dy/dx = cosh x
Tensor sinh(const Tensor& x);
/// y = (e^x + e^-x)/2                   dy/dx = sinh x
Tensor cosh(const Tensor& x);
/// y = ln(x + sqrt(x^2 + 1))            dy/dx = 1/sqrt(x^2 + 1)
Tensor asinh(const Tensor& x);
/// y = ln(x + sqrt(x^2 - 1)), x >= 1    dy/dx = 1/sqrt(x^2 - 1)
Tensor acosh(const Tensor& x);
/// y = ln((1 + x)/(1 - x))/2, x in [-1, 1]      dy/dx = 1/(1 - x^2)
Tensor atanh(const Tensor& x);

}  // namespace xgrad
