// Cumulative sums and products along an axis. The result has the shape of x. All throw ValueError for an axis out of
// range; a scalar accepts the axes 0 and -1, as in PyTorch.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// y_i = x_0 + ... + x_i along `axis`, added up in double.      dL/dx_i = sum of gy_j over j >= i
Tensor cumsum(const Tensor& x, int axis);

/// y_i = x_0 x_1 ... x_i along `axis`, multiplied in double.
/// dL/dx_i = y_(i-1) s_i with s_i = gy_i + x_(i+1) s_(i+1): without a division, so it is correct even for factors of 0
Tensor cumprod(const Tensor& x, int axis);

}  // namespace xgrad
