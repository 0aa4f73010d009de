// Rounding to integers, and remainders. All are elementwise; functions with integer results have the gradient 0.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The largest integer that is not above x.       dy/dx = 0
Tensor floor(const Tensor& x);
/// The smallest integer that is not below x.      dy/dx = 0
Tensor ceil(const Tensor& x);
/// The integer nearest to x, ties to the even one: 0.5 -> 0, 1.5 -> 2.      dy/dx = 0
Tensor round(const Tensor& x);
/// x rounded towards 0, that is, without its fraction.       dy/dx = 0
Tensor trunc(const Tensor& x);
/// The fraction, y = x - trunc(x), which has the sign of x.             dy/dx = 1
Tensor frac(const Tensor& x);

/// y = a - b floor(a/b) with the exact a/b: the remainder with the sign of b. Broadcasts; NaN where b is 0.
/// Throws ShapeError if the shapes do not broadcast.      dy/da = 1      dy/db = -floor(a/b)
Tensor remainder(const Tensor& a, const Tensor& b);
/// y = a - b trunc(a/b) with the exact a/b: the remainder with the sign of a, as in C. Broadcasts; NaN where b is 0.
/// Throws ShapeError if the shapes do not broadcast.      dy/da = 1      dy/db = -trunc(a/b)
Tensor fmod(const Tensor& a, const Tensor& b);

}  // namespace xgrad
