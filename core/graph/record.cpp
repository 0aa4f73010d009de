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
Tensor unrecorded(Array&& value, std::span<const RecordArgument> arguments) {
  const bool off = !recording();
  GradMode why = GradMode::recording;
  for (const RecordArgument& argument : arguments) {
    for (const Tensor& input : argument.inputs) {
      if (!input.defined()) continue;
      const GradMode of_input = Engine::computed_in(input);
      const bool has_a_reason = of_input != GradMode::recording || (off && input.requires_grad());
      if (has_a_reason) why = std::max(why, off ? GradMode::no_grad : of_input);
    }
  }
  return Engine::unrecorded(std::move(value), why);
}

// Makes an edge lead to an input.
void connect(Node& node, Edge& edge, const Tensor& input) {
  Node& to = *Engine::ensure_node(input).published();
  edge.to = Ref<Node>::share(&to);
  node.raise_id_above(to);
  edge.version = to.version();
  edge.carries = to.requires_grad;
}

// Attributes and multiply-adds, apart from recorded(), since operations on a few numbers have none.
[[gnu::noinline]] void describe(Node& node, std::span<const RecordArgument> arguments) {
  std::vector<Attribute> attributes;
  for (const RecordArgument& argument : arguments) {
    if (argument.kind.add_to) argument.kind.add_to(argument.given, attributes);
    if (argument.counts()) node.set_multiply_adds(argument.multiply_adds());
  }
  if (!attributes.empty()) node.ensure_extras().attributes = std::move(attributes);
}

Tensor recorded(const char* op, Array&& value, std::span<const RecordArgument> arguments) {
  if (context.grad_mode == GradMode::gradient) return Tensor(std::move(value));
  if (!recording()) return unrecorded(std::move(value), arguments);
  bool wanted = false, counts = false, described = false;
  int edges = 0;
  for (const RecordArgument& argument : arguments) {
    edges += static_cast<int>(argument.inputs.size());
    for (const Tensor& input : argument.inputs) wanted |= input.requires_grad();
    counts |= argument.counts();
    described |= argument.inputs.empty();
  }
  if (!wanted) return unrecorded(std::move(value), arguments);
  Ref<Node> node = Node::create(op, value.shape(), edges, counts);
  bool takes_output = false;
  Edge* edge = node->edges().data();
  for (const RecordArgument& argument : arguments) {
    Edge* const first = edge;
    bool any = false;
    for (std::size_t i = 0; i < argument.inputs.size(); ++i, ++edge) {
      connect(*node, *edge, argument.inputs[i]);
      any |= edge->carries;
      if (edge->carries && !argument.kind.joint)
        takes_output |= argument.kind.set_rule(argument.given, i, *node, *edge);
    }
    if (any && argument.kind.joint) {
      first->covers = static_cast<std::uint32_t>(argument.inputs.size());
      takes_output |= argument.kind.set_rule(argument.given, 0, *node, *first);
    }
  }
  if (described) describe(*node, arguments);
  node->requires_grad = true;
  if (takes_output) node->saved = value.buffer();
  return Engine::at_node(std::move(value), std::move(node));
}

[[gnu::noinline, gnu::cold]] void notify(const char* op, const Tensor& output,
                                         std::span<const RecordArgument> arguments) {
  std::vector<const Tensor*> inputs;
  std::vector<Attribute> attributes;
  for (const RecordArgument& argument : arguments) {
    for (const Tensor& input : argument.inputs) {
      if (!Engine::lacks_value(input)) inputs.push_back(&input);
    }
    if (argument.kind.add_to) argument.kind.add_to(argument.given, attributes);
  }
  Notify::operation(op, output, inputs, attributes);
}

}  // namespace

Tensor record(const char* op, Array&& value, std::span<const RecordArgument> arguments) {
  Tensor y = recorded(op, std::move(value), arguments);
  if (context.observers || (context.tracing && !y.requires_grad())) [[unlikely]]
    notify(op, y, arguments);
  return y;
}

}  // namespace detail

}  // namespace xgrad
