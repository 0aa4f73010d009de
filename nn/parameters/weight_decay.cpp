// The usual rule, from the declarations of a model's parameters.
#include "weight_decay.h"

#include <algorithm>

#include "../module_state.h"

namespace xgrad::nn {

WeightDecayRule without_weight_decay(const Module& model) {
  Tensors exempt;
  detail::ModuleState::of(model).visit([&](const std::string&, const detail::ModuleState::Entry& entry) {
    if (entry.decay == Decay::no || (!entry.is_buffer() && entry.tensor.rank() < 2)) exempt.push_back(entry.tensor);
  });
  return [exempt = std::move(exempt)](const Tensor& parameter) {
    return std::ranges::any_of(exempt, [&](const Tensor& each) { return same(each, parameter); });
  };
}

}  // namespace xgrad::nn
