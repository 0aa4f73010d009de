// Elements at positions chosen by a kernel.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// gather(x, axis, positions) without a check of the positions. The axis counts from 0.
Tensor gathered(const Tensor& x, int axis, const Index& positions);

}  // namespace xgrad
