// Utilities for functions that compute a loss: its number, and the gradients of an optimizer's parameters.
#pragma once

#include "../core/graph/tensor.h"

namespace xgrad::optim::detail {

/// The loss as a number. Throws ShapeError unless it is one.
double one_number(const char* op, const Tensor& loss);

/// In the order of the parameters: zeros for one that the loss does not depend on, none for one that is frozen. Throws
/// as grad().
Tensors gradients_of(const Tensor& loss, const Tensors& parameters);

}  // namespace xgrad::optim::detail
