// Elements that a kernel has chosen already.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// gather(x, axis, positions), which are right. The axis counts from 0.
Tensor gathered(const Tensor& x, int axis, const Index& positions);
/// The same, of which the values are known.
Tensor gathered(const Tensor& x, int axis, const Index& positions, Array values);

}  // namespace xgrad
