// The gradients of a loss for the parameters of an optimizer.
#pragma once

#include "../core/graph/tensor.h"

namespace xgrad::optim::detail {

/// In the order of the parameters: zeros for one that the loss does not depend on, none for one that is frozen. Throws
/// as grad().
Tensors gradients_of(const Tensor& loss, const Tensors& parameters);

}  // namespace xgrad::optim::detail
