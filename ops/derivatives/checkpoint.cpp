// A function that the graph holds in place of its intermediate values.
#include "checkpoint.h"

#include <algorithm>
#include <vector>

#include "../../core/array/random.h"
#include "../../core/base/formula.h"
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

// The leaves that gradients flow to from y, except `own`, the inputs. Nodes from `first` on are f's.
Leaves leaves_from(std::uint64_t first, const Tensor& y, const Tensors& own) {
  Leaves leaves;
  if (!y.requires_grad()) return leaves;
  detail::walk_graph(
      {detail::Engine::node(y).get()},
      [&](const Node& node) {
        const auto is_node = [&](const Tensor& input) { return detail::Engine::node(input).get() == &node; };
        if (std::ranges::any_of(own, is_node)) return false;
        if (node.is_leaf()) {
          leaves.push_back(Ref<Node>::share(const_cast<Node*>(&node)));
        } else if (node.id < first) {
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

// What the rule of a checkpoint holds.
struct Checkpoint {
  Checkpointed f;
  Tensors inputs;
  Leaves leaves;
  RandomState random;
  Again again;

  // Runs f again and differentiates it. The gradients of the inputs come first, then those of the leaves.
  Tensors gradients(const Tensor& gy, Wanted wanted) const {
    const bool graph_wanted = recording();
    const EnableGrad on;
    const std::uint64_t first = first_id();
    Tensors own, xs;
    std::vector<std::size_t> positions;  // of xs, among the inputs and leaves
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_wanted = wanted[static_cast<int>(i)];
      own.push_back(input_of_second_run(inputs[i], is_wanted, graph_wanted));
      if (!is_wanted || detail::Engine::node(own.back()) == detail::Engine::node(inputs[i])) continue;
      xs.push_back(own.back());
      positions.push_back(i);
    }
    for (std::size_t i = inputs.size(); i < inputs.size() + leaves.size(); ++i) {
      if (!wanted[static_cast<int>(i)]) continue;
      xs.push_back(detail::Engine::without_value(leaves[i - inputs.size()]));
      positions.push_back(i);
    }
    const Tensor y = second_run(own, gy.shape(), first);
    Tensors all;
    for (const Tensor& input : inputs) all.emplace_back(Array(input.shape(), Real(0)));
    for (const Ref<Node>& leaf : leaves) all.emplace_back(Array(leaf->shape(), Real(0)));
    if (!y.requires_grad()) return all;
    const Tensors found =
        detail::grad_since(first, y, xs, {.seed = gy, .create_graph = graph_wanted, .unused = Unused::zeros});
    for (std::size_t i = 0; i < found.size(); ++i) all[positions[i]] = found[i];
    return all;
  }

 private:
  bool uses(const Ref<Node>& leaf) const { return std::ranges::find(leaves, leaf) != leaves.end(); }

  // An id below those of the second run's nodes, and above those of all nodes that it begins at.
  std::uint64_t first_id() const {
    std::uint64_t newest = 0;
    for (const Tensor& input : inputs) {
      if (const Ref<Node>& node = detail::Engine::node(input)) newest = std::max(newest, node->id);
    }
    for (const Ref<Node>& leaf : leaves) newest = std::max(newest, leaf->id);
    return detail::take_node_id_above(newest);
  }

  Tensor input_of_second_run(const Tensor& input, bool wanted, bool graph_wanted) const {
    if (!graph_wanted || !input.requires_grad()) return wanted ? variable(input) : input.detach();
    // An input that f also captures gets its gradient as a leaf of f.
    return uses(detail::Engine::node(input)) ? input : alias(input);
  }

  Tensor second_run(const Tensors& own, const Shape& shape, std::uint64_t first) const {
    const RandomScope drawn(random);
    const std::shared_ptr<void> substituted = again ? again() : nullptr;
    Tensor y = run(f, own);
    if (y.shape() != shape) {
      fail<GraphError>("checkpoint", "the function gave shape ", shape, " and, run again, ", y.shape());
    }
    for (const Ref<Node>& leaf : leaves_from(first, y, own)) {
      if (uses(leaf)) continue;
      fail<GraphError>("checkpoint", "the function, run again, uses a leaf", leaf->name().empty() ? "" : " '",
                       leaf->name(), leaf->name().empty() ? "" : "'", " that it did not use before");
    }
    return y;
  }
};

}  // namespace

XGRAD_FORMULA checkpoint_formula{"checkpoint", "y = f(x)", "dL/dx = gy df/dx, of f run again"};
Tensor checkpoint(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  detail::refuse_empty("checkpoint", f);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail<GraphError>("checkpoint", "input ", i, " is undefined");
  }
  if (!recording()) return run(f, inputs);
  Checkpoint checkpoint{
      .f = f,
      .inputs = inputs,
      .leaves = {},
      .random = random_state(),
      .again = detail::context.copy_listener ? detail::context.copy_listener->again() : Again(),
  };
  Array value;
  {
    const std::uint64_t first = detail::take_node_id_above(0);
    Tensors own;
    for (const Tensor& input : inputs) own.push_back(input.requires_grad() ? variable(input) : input.detach());
    Tensor y = run(f, own);
    if (!y.requires_grad()) return y;
    checkpoint.leaves = leaves_from(first, y, own);
    value = y.value();
  }
  Tensors all = inputs;
  for (const Ref<Node>& leaf : checkpoint.leaves) all.push_back(detail::Engine::without_value(leaf));
  auto rule = [checkpoint = std::move(checkpoint)](const Tensor& gy, Wanted wanted) {
    return checkpoint.gradients(gy, wanted);
  };
  return record("checkpoint", std::move(value), jointly(std::move(rule), all));
}

}  // namespace xgrad
