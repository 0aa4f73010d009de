// A function that the graph holds in place of its intermediate values.
#include "checkpoint.h"

#include <algorithm>
#include <vector>

#include "../../core/array/random.h"
#include "../../core/graph/grad.h"
#include "../../core/graph/record.h"

namespace xgrad {
namespace {

using Checkpointed = std::function<Tensor(const Tensors&)>;
using Leaves = std::vector<Ref<Node>>;
using Again = std::function<std::shared_ptr<void>()>;

// While it lives, random numbers are drawn from this state; afterwards the generator continues where it was.
class RandomScope {
 public:
  explicit RandomScope(const RandomState& state) : was_(random_state()) { set_random_state(state); }
  ~RandomScope() { set_random_state(was_); }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  RandomState was_;
};

// The leaves that gradients flow to from y, except `own`, the inputs. Nodes recorded since `mark` are f's.
Leaves leaves_after(const Tensor& y, const Tensors& own, const Node& mark) {
  Leaves leaves;
  if (!y.requires_grad()) return leaves;
  detail::walk_graph(
      {detail::Engine::node(y).get()},
      [&](const Node& node) {
        const auto is_node = [&](const Tensor& input) { return detail::Engine::node(input).get() == &node; };
        if (std::ranges::any_of(own, is_node)) return false;
        if (node.is_leaf()) {
          leaves.push_back(Ref<Node>::share(const_cast<Node*>(&node)));
        } else if (node.id < mark.id) {
          fail<GraphError>("checkpoint", "the function uses the result of ", node.op,
                           ", which was computed outside it: pass it as an input");
        }
        return true;
      },
      [](const Edge& edge) { return edge.carries && edge.to->requires_grad; });
  return leaves;
}

Tensor run(const Checkpointed& f, const Tensors& inputs) {
  Tensor y = f(inputs);
  if (!y.defined()) fail<GraphError>("checkpoint", "the function returned nothing");
  return y;
}

// Runs f again and differentiates it. The inputs come first, then the leaves.
Tensors gradients(const Checkpointed& f, const Tensors& inputs, const Leaves& leaves, const RandomState& random,
                  const Again& again, const Tensor& gy, Wanted wanted) {
  const bool graph_wanted = recording();
  const EnableGrad on;
  const Tensor mark = variable(Real(0));
  for (const Tensor& input : inputs) {
    if (detail::Engine::node(input)) detail::Engine::node(mark)->follow(*detail::Engine::node(input));
  }
  for (const Ref<Node>& leaf : leaves) detail::Engine::node(mark)->follow(*leaf);
  const auto is_leaf_of_f = [&](const Ref<Node>& node) { return std::ranges::find(leaves, node) != leaves.end(); };
  Tensors own, xs;
  std::vector<std::size_t> positions;  // of xs, among the inputs and leaves
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    const bool wants = wanted[static_cast<int>(i)];
    if (graph_wanted && input.requires_grad()) {
      // An input that f also captures gets its gradient as a leaf of f.
      own.push_back(is_leaf_of_f(detail::Engine::node(input)) ? input : alias(input));
    } else {
      own.push_back(wants ? variable(input) : input.detach());
    }
    if (!wants || detail::Engine::node(own.back()) == detail::Engine::node(input)) continue;
    xs.push_back(own.back());
    positions.push_back(i);
  }
  for (std::size_t i = inputs.size(); i < inputs.size() + leaves.size(); ++i) {
    if (!wanted[static_cast<int>(i)]) continue;
    xs.push_back(detail::Engine::without_value(leaves[i - inputs.size()]));
    positions.push_back(i);
  }
  Tensor y;
  {
    const RandomScope drawn(random);
    const std::shared_ptr<void> substituted = again ? again() : nullptr;
    y = run(f, own);
  }
  if (y.shape() != gy.shape()) {
    fail<GraphError>("checkpoint", "the function gave shape ", gy.shape(), " and, run again, ", y.shape());
  }
  for (const Ref<Node>& leaf : leaves_after(y, own, *detail::Engine::node(mark))) {
    if (!is_leaf_of_f(leaf)) {
      fail<GraphError>("checkpoint", "the function, run again, uses a leaf", leaf->name().empty() ? "" : " '",
                       leaf->name(), leaf->name().empty() ? "" : "'", " that it did not use before");
    }
  }
  Tensors all;
  for (const Tensor& input : inputs) all.emplace_back(Array(input.shape(), Real(0)));
  for (const Ref<Node>& leaf : leaves) all.emplace_back(Array(leaf->shape(), Real(0)));
  if (!y.requires_grad()) return all;
  const Tensors found = detail::grad_since(detail::Engine::node(mark)->id, y, xs,
                                           {.seed = gy, .create_graph = graph_wanted, .unused = Unused::zeros});
  for (std::size_t i = 0; i < found.size(); ++i) all[positions[i]] = found[i];
  return all;
}

}  // namespace

Tensor checkpoint(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  detail::refuse_empty("checkpoint", f);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail<GraphError>("checkpoint", "input ", i, " is undefined");
  }
  if (!recording()) return run(f, inputs);
  const RandomState random = random_state();
  const Again again = detail::context.on_copy ? detail::context.on_copy->again() : Again();
  Array value;
  Leaves leaves;
  {
    const Tensor mark = variable(Real(0));
    Tensors own;
    for (const Tensor& input : inputs) own.push_back(input.requires_grad() ? variable(input) : input.detach());
    const Tensor y = run(f, own);
    if (!y.requires_grad()) return y;
    leaves = leaves_after(y, own, *detail::Engine::node(mark));
    value = y.value();
  }
  auto rule = [=](const Tensor& gy, Wanted wanted) { return gradients(f, inputs, leaves, random, again, gy, wanted); };
  Tensors all = inputs;
  for (const Ref<Node>& leaf : leaves) all.push_back(detail::Engine::without_value(leaf));
  return record("checkpoint", std::move(value), jointly(std::move(rule), all));
}

}  // namespace xgrad
