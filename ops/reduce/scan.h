// Cumulative sums, products and extremes along an axis. The result has the shape of x. All throw ValueError for an axis
// out of range; a scalar has axes 0 and -1 with its one element, as in PyTorch.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// y_i = x_0 + ... + x_i along `axis`, added up in double.      dL/dx_i = sum of gy_j over j >= i
Tensor cumsum(const Tensor& x, int axis);

/// y_i = x_0 x_1 ... x_i along `axis`, multiplied in double.
/// dL/dx_i = y_(i-1) s_i with s_i = gy_i + x_(i+1) s_(i+1): without a division, so right where factors are 0, too
Tensor cumprod(const Tensor& x, int axis);

/// y_i = ln(e^x_0 + ... + e^x_i) along `axis`, without overflow; -inf as long as all are -inf, inf from the first inf
/// on. dL/dx_i = sum of gy_j e^(x_i - y_j) over j >= i. Entries of -inf have none, and where y_j is inf those of inf
/// share it.
Tensor logcumsumexp(const Tensor& x, int axis);

/// y_i = the largest (smallest) of x_0, ..., x_i along `axis`, and its position: the last of equal ones; a NaN stays.
/// dL/dx_j = sum of gy_i with position j
ValuesAndIndices cummax(const Tensor& x, int axis);
ValuesAndIndices cummin(const Tensor& x, int axis);

}  // namespace xgrad
