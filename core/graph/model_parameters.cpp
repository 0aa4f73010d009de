// The parameters of a model, and the way to it from the node of each.
#include "model_parameters.h"

#include <utility>

#include "../base/error.h"

namespace xgrad::detail {

void ModelParameters::add(const std::shared_ptr<ModelParameters>& model, const Tensor& parameter) {
  NodeExtras& extras = Engine::node(parameter)->ensure_extras();
  extras.index_in_model = model->declared_;
  model->living_.emplace(model->declared_++, parameter);
  extras.model = model;
}

void ModelParameters::remove(const Tensor& parameter) noexcept {
  const Ref<Node>& node = Engine::node(parameter);
  if (of(node.get()).get() != this) return;
  node->extras->model.reset();
  living_.erase(std::exchange(node->extras->index_in_model, removed));
}

Tensors ModelParameters::declared_after(std::uint64_t count) const {
  Tensors found;
  for (auto each = living_.lower_bound(count); each != living_.end(); ++each) found.push_back(each->second);
  return found;
}

std::shared_ptr<const ModelParameters> ModelParameters::of(const Node* parameter) {
  return parameter && parameter->extras ? parameter->extras->model.lock() : nullptr;
}

bool ModelParameters::is_orphan(const Node* parameter) {
  return parameter->extras && parameter->extras->index_in_model == removed;
}

void ModelParameters::mark_integers(const Tensor& buffer) { Engine::node(buffer)->ensure_extras().integers = true; }

bool ModelParameters::has_integers(const Tensor& buffer) {
  const Ref<Node>& node = Engine::node(buffer);
  return node && node->extras && node->extras->integers;
}

std::int64_t set_requires_grad(const char* op, const Tensors& parameters, bool wanted) {
  for (const Tensor& parameter : parameters) {
    if (parameter.is_leaf()) continue;
    fail<GraphError>(op, "only leaves can be parameters, not the result of ", Engine::node(parameter)->op);
  }
  for (const Tensor& parameter : parameters) parameter.set_requires_grad(wanted);
  return std::ssize(parameters);
}

}  // namespace xgrad::detail
