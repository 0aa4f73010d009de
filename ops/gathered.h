// Elements that a kernel has chosen already.
#pragma once

#include "reduce.h"

namespace xgrad {

/// gather(x, axis, positions), whose values are known, and the positions, which are right. The axis counts from 0.
ValuesAndIndices gathered(const Tensor& x, int axis, Index positions, Array values);

/// gather(x, axis, positions), which are right.
Tensor gathered(const Tensor& x, int axis, const Index& positions);

}  // namespace xgrad
