// Fourier transforms of rows of real numbers.
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

namespace xgrad {

/// y_rk = scale sum_j x_rj e^(-2 pi i j k/n) for k = 0 ... n/2, the real and the imaginary part of each next to each
/// other.      x (rows, n) -> y (rows, n/2 + 1, 2), n > 0
void transform_rows(std::int64_t rows, std::int64_t n, Real scale, const Real* x, Real* y);

/// x_rj = scale sum of c_rk e^(2 pi i j k/n) over k < n, where c_(n - k) is the conjugate of c_k. The imaginary
/// parts of c_0 and, for an even n, of c_(n/2) are ignored.      c (rows, n/2 + 1, 2) -> x (rows, n), n > 0
void transform_rows_back(std::int64_t rows, std::int64_t n, Real scale, const Real* c, Real* x);

}  // namespace xgrad
