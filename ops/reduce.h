// Reductions: sums and the like over axes.
#pragma once

#include <optional>

#include <xgrad/core/tensor.h>

namespace xgrad::inline XGRAD_ABI {

/// Sums x down to `shape`: over the axes along which an array of that shape would be repeated to make one like x. The
/// dual of broadcast_to. Returns x itself when nothing is to be done. Throws ShapeError.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace xgrad::inline XGRAD_ABI
