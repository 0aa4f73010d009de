// The parameters of a model, and the way to it from the node of each.
#include "model_parameters.h"

#include <map>

namespace xgrad::detail {

void ModelParameters::add(const std::shared_ptr<ModelParameters>& model, const Tensor& parameter) {
  NodeExtras& extras = Engine::node(parameter)->needed_extras();
  model->living_.insert({Engine::node(parameter).get(), {model->declared_, parameter}});
  ++model->declared_;
  extras.model = model;
}

void ModelParameters::remove(const Tensor& parameter) noexcept {
  if (living_.erase(Engine::node(parameter).get()) > 0) Engine::node(parameter)->extras->model.reset();
}

Tensors ModelParameters::since(std::uint64_t count) const {
  std::map<std::uint64_t, Tensor> late;
  for (const auto& [node, entry] : living_) {
    if (entry.first >= count) late.insert(entry);
  }
  Tensors found;
  for (const auto& [number, parameter] : late) found.push_back(parameter);
  return found;
}

std::shared_ptr<const ModelParameters> ModelParameters::of(const Node* parameter) {
  return parameter && parameter->extras ? parameter->extras->model.lock() : nullptr;
}

void ModelParameters::mark_whole(const Tensor& buffer) { Engine::node(buffer)->needed_extras().whole = true; }

bool ModelParameters::is_whole(const Tensor& buffer) {
  const Ref<Node>& node = Engine::node(buffer);
  return node && node->extras && node->extras->whole;
}

}  // namespace xgrad::detail
