// The usual rule, from the declarations of a model's parameters.
#include "weight_decay.h"

#include <algorithm>

namespace xgrad::nn {
WeightDecayRule without_weight_decay(const Module& model) {
  Tensors exempt = model.parameters_without_decay();
  for (const Tensor& parameter : model.parameters()) {
    if (parameter.rank() < 2) exempt.push_back(parameter);
  }
  return [exempt = std::move(exempt)](const Tensor& parameter) {
    return std::ranges::any_of(exempt, [&](const Tensor& each) { return same(each, parameter); });
  };
}

}  // namespace xgrad::nn
