// Tensor handles: making, changing, naming and printing them.
#include "tensor.h"

#include <ostream>

#include "../base/error.h"
#include "../base/formula.h"

namespace xgrad {

constinit const Ref<Node> Tensor::none_;

void Tensor::Body::destroy(Body* body) noexcept {
  body->~Body();
  pool_release(body, sizeof(Body));
}

Ref<Tensor::Body> Tensor::make_body(Array&& value, Ref<Node>&& node, GradMode computed_in) {
  void* block = pool_allocate(sizeof(Body));
  return Ref<Body>::adopt(
      new (block) Body{.refs = {}, .computed_in = computed_in, .value = std::move(value), .node = std::move(node)});
}

void Tensor::refuse_undefined() { fail<GraphError>("tensor", "undefined: no value was ever given to it"); }

Tensor::Tensor(const Array& value) : body_(make_body(Array(value), nullptr)) {}
Tensor::Tensor(Array&& value) : body_(make_body(std::move(value), nullptr)) {}

Tensor detail::Engine::at_node(Array&& value, Ref<Node>&& node) {
  Tensor tensor;
  tensor.body_ = Tensor::make_body(std::move(value), std::move(node));
  return tensor;
}

Tensor detail::Engine::unrecorded(Array&& value, GradMode why) {
  Tensor tensor;
  tensor.body_ = Tensor::make_body(std::move(value), nullptr, why);
  return tensor;
}

Tensor detail::Engine::shallow_copy(const Tensor& tensor) {
  Tensor copy;
  copy.body_ = Tensor::make_body(Array(tensor.value()), Ref<Node>(node(tensor)), computed_in(tensor));
  return copy;
}

void detail::Engine::swap(const Tensor& a, const Tensor& b) noexcept {
  std::swap(a.body_->value, b.body_->value);
  std::swap(a.body_->node, b.body_->node);
  std::swap(a.body_->computed_in, b.body_->computed_in);
}

const Ref<Node>& detail::Engine::ensure_node(const Tensor& tensor) {
  Tensor::Body& mine = tensor.body();
  if (!mine.node.published()) {
    auto leaf = Node::create("leaf", mine.value.shape(), 0);
    leaf->unrecorded_gradient = mine.computed_in == GradMode::gradient;
    if (mine.value.rank() == 0) leaf->saved = mine.value.buffer();  // so that diagrams can show the number
    mine.node.publish(leaf);                                        // threads that share a constant may all come here
  }
  return mine.node;
}

const Tensor& Tensor::set_requires_grad(bool wanted) const& {
  if (!is_leaf()) fail<GraphError>("set_requires_grad", "only for leaves, not for the result of ", body().node->op);
  Node& leaf = *detail::Engine::ensure_node(*this);
  leaf.requires_grad = wanted;
  if (wanted) leaf.saved = nullptr;
  return *this;
}

void Tensor::bump_version() const {
  if (Node* leaf = body().node.get()) {
    leaf->count_assignment();
    leaf->saved = nullptr;
  }
}

void Tensor::check_leaf(const char* caller, const char* done) const {
  if (!is_leaf()) fail<GraphError>(caller, "only leaves can be ", done, ", not the result of ", body().node->op);
}

namespace {

// nullptr if there are none.
NodeExtras* extras_of(const Tensor& tensor) {
  const Ref<Node>& node = detail::Engine::node(tensor);
  return node ? node->extras.get() : nullptr;
}

}  // namespace

Array& Tensor::mutable_value() const {
  check_leaf("mutable_value", "changed");
  body().value.mutable_data();  // may need memory, so before the version changes
  bump_version();
  return body().value;
}

void Tensor::assign(Array value) const {
  check_leaf("assign", "assigned");
  if (value.shape() != body().value.shape()) {
    fail<ShapeError>("assign", "shape ", value.shape(), " for ", name().empty() ? "a tensor" : name(), " of shape ",
                     shape());
  }
  bump_version();
  body().value = std::move(value);
}

Array detail::Engine::take_value(Tensor&& tensor) {
  if (!unique(tensor)) return tensor.value();
  Array value = std::move(tensor.body().value);
  tensor.body_ = nullptr;
  return value;
}

Tensor Tensor::grad() const {
  if (!has_grad()) {
    fail<GraphError>("grad", name().empty() ? str("the tensor ", shape()) : str("'", name(), "'"), ' ',
                     detail::Engine::why_no_grad(*this));
  }
  return Tensor(extras_of(*this)->grad);
}

std::string detail::Engine::why_no_grad(const Tensor& x) {
  if (const NodeExtras* extras = extras_of(x); extras && !x.requires_grad() && !extras->model.expired()) {
    return "is a parameter that is frozen; call set_requires_grad() before the forward pass";
  }
  if (const std::string_view why = why_no_history(computed_in(x)); !why.empty()) return std::string(why);
  if (!x.requires_grad()) {
    return "requires no gradient, because it was made from numbers, by detach(), or from such alone; variable(...) "
           "makes a leaf that gradients flow to";
  }
  const Node& node = *Engine::node(x);
  if (!x.is_leaf() && !(node.extras && node.extras->retain_grad)) {
    return str("is a result of ", node.op, ", and only leaves keep their gradient; call retain_grad() before ",
               "backward(), or give a leaf another value by w.assign(...)");
  }
  if (node.released) {
    return "kept no gradient when the backward pass came by: retain_grad() was called after it, or zero_grad()";
  }
  return "has not been reached by a backward(), or zero_grad() came after; grad(loss, {x}) throws if the loss does not "
         "depend on it";
}

bool Tensor::has_grad() const {
  const NodeExtras* extras = extras_of(*this);
  return extras && extras->passes > 0;
}

void Tensor::zero_grad() const {
  if (!has_grad()) return;
  extras_of(*this)->passes = 0;
  extras_of(*this)->grad = Array();
}

const Tensor& Tensor::retain_grad() const& {
  if (!requires_grad()) fail<GraphError>("retain_grad", "no gradient flows to this tensor");
  detail::Engine::ensure_node(*this)->ensure_extras().retain_grad = true;
  return *this;
}

std::uint64_t Tensor::on_grad(GradientHook hook) const {
  if (!requires_grad()) fail<GraphError>("on_grad", "no gradient flows to this tensor");
  detail::refuse_empty("on_grad", hook);
  NodeExtras& extras = detail::Engine::node(*this)->ensure_extras();
  extras.hooks.emplace_back(extras.next_hook, std::move(hook));
  return extras.next_hook++;
}

void Tensor::remove_hook(std::uint64_t id) const {
  NodeExtras* extras = extras_of(*this);
  if (extras) std::erase_if(extras->hooks, [id](const auto& hook) { return hook.first == id; });
}

std::string Tensor::name() const {
  const NodeExtras* extras = extras_of(*this);
  return extras ? extras->name : std::string();
}

const Tensor& Tensor::named(std::string_view name) const& {
  detail::Engine::ensure_node(*this)->ensure_extras().name = name;
  return *this;
}

Tensor Tensor::detach() const {
  Tensor y(value());
  if (detail::context.tracing)
    detail::Engine::ensure_node(y)->set_trace("detach", {detail::Engine::ensure_node(*this)}, {}, NodeRole::detached);
  return y;
}
XGRAD_FORMULA detach_formula{"detach", "y = x", "dL/dx = 0"};

Tensor variable(Array value, std::string_view name) {
  const Tensor leaf(std::move(value));
  leaf.set_requires_grad();
  return name.empty() ? leaf : leaf.named(name);
}

Tensor variable(const Tensor& value, std::string_view name) { return variable(value.value(), name); }

Tensor variable(std::initializer_list<Nested<Real>> values, std::string_view name) {
  return variable(Nested<Real>(values).array(), name);
}

Tensor variable(Real value, std::string_view name) { return variable(Array(Shape{}, value), name); }

std::string to_string(const Tensor& tensor) {
  if (!tensor.defined()) return "tensor(undefined)";
  constexpr std::string_view begin = "tensor(";
  const std::string numbers = detail::printed(tensor.value(), static_cast<int>(begin.size()));
  std::string text = str(begin, numbers, ", shape=", tensor.shape());
  if (!tensor.name().empty()) append(text, str(", name=", tensor.name()));
  if (!tensor.is_leaf()) append(text, str(", op=", detail::Engine::node(tensor)->op));
  if (tensor.is_leaf() && tensor.requires_grad()) append(text, ", requires_grad");
  return text + ")";
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << to_string(tensor); }

}  // namespace xgrad
