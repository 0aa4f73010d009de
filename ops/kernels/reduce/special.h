// Special functions of one number, in double, to about 1e-15, near their zeros of the terms that cancel there.
// (Polygamma of an order n beyond 170 to n 1e-16.)
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

namespace xgrad::detail {

/// ln |Gamma(x)|.
double lgamma_of(double x);
/// The derivative of ln Gamma: psi. At 0 infinite, NaN at negative whole numbers.
double digamma_of(double x);
/// The n-th derivative of psi, n > 0; infinite at 0 and negative whole numbers.
double polygamma_of(std::int64_t n, double x);

}  // namespace xgrad::detail
