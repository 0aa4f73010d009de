// The construction of nodes.
#include "record.h"

namespace xgrad {

namespace detail {

bool Recording::add(const Tensor& input) { return add(*Engine::needed_node(input).published()); }

bool Recording::add(Node& to) {
  Edge& edge = node_->edges()[static_cast<std::size_t>(added_++)];
  edge.to = Ref<Node>::share(&to);
  node_->follow(to);
  edge.version = to.version();
  edge.carries = to.requires_grad;
  return edge.carries;
}

void Recording::tell(const char* name, AttributeValue&& value) {
  auto& attributes = node_->needed_extras().attributes;
  if (attributes.empty()) attributes.reserve(3);  // enough for most: growing takes half as long as a small operation
  attributes.push_back({name, std::move(value)});
}

void Listed::tell(const char* name, AttributeValue&& value) { attributes.push_back({name, std::move(value)}); }

Tensor Recording::finish(Array&& value) && {
  node_->requires_grad = true;
  if (keep_output_) node_->kept = value.buffer();
  return Engine::at_node(std::move(value), std::move(node_));
}

}  // namespace detail

Tensor Tensor::detach() const {
  Tensor y(value());
  if (detail::context.tracing)
    detail::Engine::needed_node(y)->trace("detach", {detail::Engine::needed_node(*this)}, {});
  return y;
}

}  // namespace xgrad
