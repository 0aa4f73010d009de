// Functions of one tensor, element by element, and the choice between two.
#pragma once

#include <xgrad/core/tensor.h>

namespace xgrad::inline XGRAD_ABI {

/// y = e^x       dy/dx = y
Tensor exp(const Tensor& x);
/// Hyperbolic tangent.      dy/dx = 1 - y^2
Tensor tanh(const Tensor& x);

/// y = a where the mask is true, else b; all three broadcast. The gradient goes to the chosen one only: what was not
/// chosen gets 0 even if the upstream gradient is NaN. Throws ShapeError.
Tensor where(const Mask& mask, const Tensor& a, const Tensor& b);

}  // namespace xgrad::inline XGRAD_ABI
