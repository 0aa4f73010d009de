// The gradients of a loss.
#include "loss.h"

#include <algorithm>
#include <iterator>

#include "../core/graph/grad.h"

namespace xgrad::optim::detail {

Tensors gradients_of(const Tensor& loss, const Tensors& parameters) {
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
