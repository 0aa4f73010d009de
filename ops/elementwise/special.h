// Special functions, element by element: of the gamma, error and Bessel families, and products with limits.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// y = ln |Gamma(x)|; inf at 0, -1, -2, ...      dy/dx = digamma(x)
Tensor lgamma(const Tensor& x);
/// psi, the derivative of ln Gamma: digamma(x + 1) = digamma(x) + 1/x. Infinite at 0 (of the other sign than the 0),
/// NaN at -1, -2, ...      dy/dx = polygamma(1, x)
Tensor digamma(const Tensor& x);
/// The n-th derivative of digamma; infinite at 0, -1, -2, ...      dy/dx = polygamma(n + 1, x)
/// Throws ValueError for a negative n.
Tensor polygamma(int n, const Tensor& x);
/// The inverse of erf: x in [-1, 1], infinite at the ends, NaN outside.      dy/dx = sqrt(pi)/2 e^(y^2)
Tensor erfinv(const Tensor& x);
/// The modified Bessel function I_0, which grows as e^|x|/sqrt(2 pi |x|).      dy/dx = I_1(x)
Tensor i0(const Tensor& x);
/// The modified Bessel function I_1.      dy/dx = (I_0(x) + I_2(x))/2
Tensor i1(const Tensor& x);
/// y = sin(pi x)/(pi x), 1 at 0, 0 at other whole numbers and at infinities.      dy/dx = (cos(pi x) - y)/x, 0 at 0
Tensor sinc(const Tensor& x);
/// y = a ln b, and 0 where a is 0 and b is not NaN, with broadcasting. Throws ShapeError.
/// dy/da = ln b, 0 where a = 0 and b <= 0      dy/db = a/b, 0 where both are 0
Tensor xlogy(const Tensor& a, const Tensor& b);

}  // namespace xgrad
