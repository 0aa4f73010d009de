// Special functions of the gamma family, element by element.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// y = ln |Gamma(x)|; inf at 0, -1, -2, ...      dy/dx = digamma(x)
Tensor lgamma(const Tensor& x);
/// psi, the derivative of ln Gamma: digamma(x + 1) = digamma(x) + 1/x. Infinite at 0 (of the other sign than the 0),
/// NaN at -1, -2, ...      dy/dx = psi_1(x), its derivative; the derivatives of any order are exact, too
Tensor digamma(const Tensor& x);

}  // namespace xgrad
