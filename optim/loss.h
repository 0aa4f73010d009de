// The gradients of a loss for the parameters of an optimizer.
#pragma once

#include <algorithm>
#include <iterator>

#include "../core/graph/grad.h"

namespace xgrad::optim::detail {

/// In the order of the parameters: zeros for one that the loss does not depend on, none for one that is frozen. Throws
/// as grad().
inline Tensors gradients_of(const Tensor& loss, const Tensors& parameters) {
  Tensors wanted;
  std::ranges::copy_if(parameters, std::back_inserter(wanted), &Tensor::requires_grad);
  const Tensors found = grad(loss, wanted, {.unused = Unused::zeros});
  Tensors all;
  for (auto next = found.begin(); const Tensor& parameter : parameters) {
    all.push_back(parameter.requires_grad() ? *next++ : Tensor());
  }
  return all;
}

}  // namespace xgrad::optim::detail
