// Elementwise functions of one tensor, powers, and a few functions of several tensors. (activations.h, trigonometry.h
// and rounding.h have the others.)
#pragma once

#include <limits>

#include "../../core/graph/tensor.h"
#include "compare.h"

namespace xgrad {

/// y = e^x                          dy/dx = y
Tensor exp(const Tensor& x);
/// y = e^x - 1, accurate near 0     dy/dx = e^x
Tensor expm1(const Tensor& x);
/// y = ln x; -inf at 0, NaN below   dy/dx = 1/x
Tensor log(const Tensor& x);
/// y = ln(1 + x), accurate near 0   dy/dx = 1/(1 + x)
Tensor log1p(const Tensor& x);
/// y = 2^x                          dy/dx = y ln 2
Tensor exp2(const Tensor& x);
/// y = ln x / ln 2                  dy/dx = 1/(x ln 2)
Tensor log2(const Tensor& x);
/// y = ln x / ln 10                 dy/dx = 1/(x ln 10)
Tensor log10(const Tensor& x);
/// y = 1/x; inf at 0                dy/dx = -y^2
Tensor reciprocal(const Tensor& x);
/// y = sqrt x; NaN below 0          dy/dx = 1/(2y), which is inf at 0
Tensor sqrt(const Tensor& x);
/// y = 1/sqrt x                     dy/dx = -y^3/2
Tensor rsqrt(const Tensor& x);
/// y = x^2                          dy/dx = 2x
Tensor square(const Tensor& x);
/// y = |x|                          dy/dx = sign x, 0 at 0
Tensor abs(const Tensor& x);
/// y = 1, 0 or -1; NaN for NaN      dy/dx = 0
Tensor sign(const Tensor& x);
/// y = sin x                        dy/dx = cos x
Tensor sin(const Tensor& x);
/// y = cos x                        dy/dx = -sin x
Tensor cos(const Tensor& x);
/// Hyperbolic tangent.              dy/dx = 1 - y^2, which is 0 where y rounds to 1 or -1
Tensor tanh(const Tensor& x);
/// y = 1/(1 + e^-x)                 dy/dx = y (1 - y), which is 0 where y rounds to 1: above 37 (float: 17)
Tensor sigmoid(const Tensor& x);
/// The error function.              dy/dx = 2/sqrt(pi) e^(-x^2)
Tensor erf(const Tensor& x);

/// y = x^exponent with one number as the exponent. x^0 = 1 with gradient 0, even for x = 0. A negative base with a
/// fractional exponent gives NaN.      dy/dx = exponent x^(exponent - 1)
Tensor pow(const Tensor& x, double exponent);
/// y = a^b        dy/da = b a^(b-1)      dy/db = a^b ln a, and where a = 0: 0 if b >= 0, else -a^b
Tensor pow(const Tensor& a, const Tensor& b);

/// y = ln(e^a + e^b), without overflow; with broadcasting. Throws ShapeError.
/// dy/da = e^(a - y)      dy/db = e^(b - y); if both are -inf, y is -inf and both derivatives are 0
Tensor logaddexp(const Tensor& a, const Tensor& b);
/// y = start + weight (end - start), exactly `start` for weight 0 and `end` for 1; with broadcasting. Throws
/// ShapeError. dy/dstart = 1 - weight      dy/dend = weight      dy/dweight = end - start
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);

/// The interval of clamp; a side that is not set, or infinite, has no bound.
struct Bounds {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
};
/// y = x within the bounds, the nearer bound outside.      dy/dx = 1 within, 0 outside, at the bounds and for NaN
/// Throws ValueError unless min <= max.
Tensor clamp(const Tensor& x, const Bounds& bounds);
/// y = min(max(x, low), high), with broadcasting; `high` where low > high. Throws ShapeError. (For one bound: maximum,
/// minimum.)      The gradient goes to the chosen argument; x and the bound get half each if they are equal.
Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high);

struct NanToNumOptions {
  double nan = 0;                                       ///< replaces NaN
  double posinf = std::numeric_limits<Real>::max();     ///< replaces inf
  double neginf = std::numeric_limits<Real>::lowest();  ///< replaces -inf
};
/// x with finite numbers in place of NaN and infinities.      dy/dx = 1 where x is finite, else 0
Tensor nan_to_num(const Tensor& x, const NanToNumOptions& options = {});

}  // namespace xgrad
