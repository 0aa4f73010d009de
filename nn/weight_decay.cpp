// A walk over the layers of a model.
#include "weight_decay.h"

#include <algorithm>

#include "embedding.h"
#include "norm.h"
#include "positions.h"

namespace xgrad::nn {
namespace {

bool is_exempt(const Module& layer) {
  return dynamic_cast<const Embedding*>(&layer) || dynamic_cast<const LearnedPositions*>(&layer) ||
         dynamic_cast<const LayerNorm*>(&layer) || dynamic_cast<const RMSNorm*>(&layer) ||
         dynamic_cast<const BatchNorm*>(&layer) || dynamic_cast<const GroupNorm*>(&layer) ||
         dynamic_cast<const InstanceNorm*>(&layer);
}

// Biases and positions of more than one axis, which models have as parameters of their own.
bool is_no_factor(const std::string& name) {
  const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
  return last.find("bias") != last.npos || last == "pos_embedding" || last == "class_token";
}

}  // namespace

WeightDecayRule without_weight_decay(const Module& model) {
  Tensors exempt;
  model.apply([&](const Module& layer) {
    if (is_exempt(layer)) std::ranges::copy(layer.parameters(), std::back_inserter(exempt));
  });
  for (const auto& [name, parameter] : model.named_parameters()) {
    if (parameter.rank() < 2 || is_no_factor(name)) exempt.push_back(parameter);
  }
  return [exempt = std::move(exempt)](const Tensor& parameter) {
    return std::ranges::any_of(exempt, [&](const Tensor& each) { return same(each, parameter); });
  };
}

}  // namespace xgrad::nn
