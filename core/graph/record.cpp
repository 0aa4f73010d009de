// The construction of nodes.
#include "record.h"

#include "observe.h"

namespace xgrad {

namespace detail {

void append_attribute(std::vector<Attribute>& to, const char* name, AttributeValue&& value) {
  if (to.empty()) to.reserve(3);  // enough for most: growing takes half as long as a small operation
  to.push_back({name, std::move(value)});
}

namespace {

// The result of an operation that is not recorded, with the reason of one of its inputs.
Tensor unrecorded(Array&& value, std::span<const Part> parts) {
  const bool off = !recording();
  History why = History::recorded;
  for (const Part& part : parts) {
    for (const Tensor& input : part.inputs) {
      if (!input.defined()) continue;
      const History of_input = Engine::history(input);
      const bool has_a_reason = of_input != History::recorded || (off && input.requires_grad());
      if (has_a_reason) why = std::max(why, off ? History::no_grad : of_input);
    }
  }
  return Engine::unrecorded(std::move(value), why);
}

// Makes an edge lead to an input.
void connect(Node& node, Edge& edge, const Tensor& input) {
  Node& to = *Engine::needed_node(input).published();
  edge.to = Ref<Node>::share(&to);
  node.follow(to);
  edge.version = to.version();
  edge.carries = to.requires_grad;
}

// Attributes and multiply-adds, apart from recorded(), since operations on a few numbers have none.
[[gnu::noinline]] void describe(Node& node, std::span<const Part> parts) {
  std::vector<Attribute> attributes;
  for (const Part& part : parts) {
    if (part.kind.add_to) part.kind.add_to(part.argument, attributes);
    if (part.counts()) node.set_multiply_adds(part.multiply_adds());
  }
  if (!attributes.empty()) node.needed_extras().attributes = std::move(attributes);
}

Tensor recorded(const char* op, Array&& value, std::span<const Part> parts) {
  if (context.history == History::gradient) return Tensor(std::move(value));
  if (!recording()) return unrecorded(std::move(value), parts);
  bool wanted = false, counts = false, described = false;
  int edges = 0;
  for (const Part& part : parts) {
    edges += static_cast<int>(part.inputs.size());
    for (const Tensor& input : part.inputs) wanted |= input.requires_grad();
    counts |= part.counts();
    described |= part.inputs.empty();
  }
  if (!wanted) return unrecorded(std::move(value), parts);
  Ref<Node> node = Node::create(op, value.shape(), edges, counts);
  bool takes_output = false;
  Edge* edge = node->edges().data();
  for (const Part& part : parts) {
    Edge* const first = edge;
    bool any = false;
    for (std::size_t i = 0; i < part.inputs.size(); ++i, ++edge) {
      connect(*node, *edge, part.inputs[i]);
      any |= edge->carries;
      if (edge->carries && !part.kind.joint) takes_output |= part.kind.set_rule(part.argument, i, *node, *edge);
    }
    if (any && part.kind.joint) {
      first->covers = static_cast<std::uint32_t>(part.inputs.size());
      takes_output |= part.kind.set_rule(part.argument, 0, *node, *first);
    }
  }
  if (described) describe(*node, parts);
  node->requires_grad = true;
  if (takes_output) node->saved = value.buffer();
  return Engine::at_node(std::move(value), std::move(node));
}

[[gnu::noinline, gnu::cold]] void show(const char* op, const Tensor& output, std::span<const Part> parts) {
  std::vector<const Tensor*> inputs;
  std::vector<Attribute> attributes;
  for (const Part& part : parts) {
    for (const Tensor& input : part.inputs) {
      if (!Engine::lacks_value(input)) inputs.push_back(&input);
    }
    if (part.kind.add_to) part.kind.add_to(part.argument, attributes);
  }
  Shown::operation(op, output, inputs, attributes);
}

}  // namespace

Tensor record(const char* op, Array&& value, std::span<const Part> parts) {
  Tensor y = recorded(op, std::move(value), parts);
  if (context.observers || (context.tracing && !y.requires_grad())) [[unlikely]]
    show(op, y, parts);
  return y;
}

}  // namespace detail

Tensor Tensor::detach() const {
  Tensor y(value());
  if (detail::context.tracing)
    detail::Engine::needed_node(y)->set_trace("detach", {detail::Engine::needed_node(*this)}, {}, NodeRole::detached);
  return y;
}

}  // namespace xgrad
