// Changing shapes: the same numbers in another arrangement.
#pragma once

#include <xgrad/core/tensor.h>

namespace xgrad::inline XGRAD_ABI {

/// Repeats x along new leading axes and axes of size 1. The dual of sum_to. Throws ShapeError.
Tensor broadcast_to(const Tensor& x, const Shape& shape);

}  // namespace xgrad::inline XGRAD_ABI
