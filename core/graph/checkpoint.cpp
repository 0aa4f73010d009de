// A function that the graph holds in place of what it computed.
#include "checkpoint.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "../array/random.h"
#include "grad.h"
#include "observe.h"
#include "record.h"

namespace xgrad {
namespace {

using Checkpointed = std::function<Tensor(const Tensors&)>;

// Keeps the leaves that operations are given while it lives: a node does not know its tensor.
class LeavesSeen : public Observer {
 public:
  void operation(const OperationRun& run) override {
    for (const Tensor* input : run.inputs) see(*input);
  }
  void see(const Tensor& tensor) {
    if (tensor.requires_grad() && tensor.is_leaf()) seen_.try_emplace(tensor.node().get(), tensor);
  }
  const Tensor& tensor(const Node* leaf) const {
    const auto found = seen_.find(leaf);
    if (found == seen_.end()) fail<GraphError>("checkpoint", "not for what an observer computes");
    return found->second;
  }

 private:
  std::unordered_map<const Node*, Tensor> seen_;
};

// While it lives, random numbers are drawn as from this state; then they go on where they were.
class RandomScope {
 public:
  explicit RandomScope(const RandomState& state) : was_(random_state()) { set_random_state(state); }
  ~RandomScope() { set_random_state(was_); }
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  RandomState was_;
};

// The leaves that gradients flow to from y, but for `own`, the inputs. What was recorded since `mark` is f's.
std::vector<const Node*> leaves_behind(const Tensor& y, const Tensors& own, const Node& mark) {
  std::unordered_set<const Node*> seen;
  for (const Tensor& input : own) {
    if (input.requires_grad()) seen.insert(input.node().get());
  }
  std::vector<const Node*> leaves, open;
  const auto look_at = [&](const Node* node) {
    if (!seen.insert(node).second) return;
    if (node->is_leaf()) {
      leaves.push_back(node);
    } else if (node->id < mark.id) {
      fail<GraphError>("checkpoint", "the function uses the result of ", node->op,
                       ", which was computed outside of it: give it as an input");
    } else {
      open.push_back(node);
    }
  };
  if (y.requires_grad()) look_at(y.node().get());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Edge& edge : node->edges()) {
      if (edge.carries && edge.to->requires_grad) look_at(edge.to.get());
    }
  }
  return leaves;
}

// One rule for a list of inputs: what jointly() is for those that are counted when the program is compiled.
template <class F>
struct JointlyEach : detail::InputList<Tensors> {
  F rule;

  static_assert(std::is_invocable_r_v<Tensors, F&, const Tensor&, Wanted>,
                "a joint rule of a list takes (gy, wanted) and returns Tensors");

  void attach(detail::Recording& node) && {
    const int first = node.edges_added();
    bool any = false;
    for (const Tensor& input : inputs) any |= node.add(input);
    if (any) node.set_rule<detail::JointRule>(first, static_cast<std::uint16_t>(inputs.size()), std::move(rule));
  }
};

Tensor run(const Checkpointed& f, const Tensors& inputs) {
  Tensor y = f(inputs);
  if (!y.defined()) fail<GraphError>("checkpoint", "the function returned nothing");
  return y;
}

// Runs f again and goes back through it. The inputs come first, then the leaves.
Tensors gradients(const Checkpointed& f, const Tensors& inputs, const Tensors& leaves, const RandomState& random,
                  const Tensor& gy, Wanted wanted) {
  const bool graph_wanted = recording();
  const EnableGrad on;
  const Tensor mark = variable(Real(0));
  for (const Tensor& input : inputs) {
    if (input.node()) mark.node()->follow(*input.node());
  }
  const auto is_leaf_of_f = [&](const Tensor& input) {
    return std::ranges::any_of(leaves, [&](const Tensor& leaf) { return leaf.node() == input.node(); });
  };
  Tensors own, xs;
  std::vector<std::size_t> places;  // of xs, among the inputs and leaves
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    const bool wants = wanted[static_cast<int>(i)];
    if (graph_wanted && input.requires_grad()) {
      // An input that f uses besides gets its gradient as a leaf of f.
      own.push_back(is_leaf_of_f(input) ? input : alias(input));
    } else {
      own.push_back(wants ? variable(input) : input.detach());
    }
    if (!wants || own.back().node() == input.node()) continue;
    xs.push_back(own.back());
    places.push_back(i);
  }
  for (std::size_t i = inputs.size(); i < inputs.size() + leaves.size(); ++i) {
    if (!wanted[static_cast<int>(i)]) continue;
    xs.push_back(leaves[i - inputs.size()]);
    places.push_back(i);
  }
  Tensor y;
  {
    const RandomScope again(random);
    y = run(f, own);
  }
  if (y.shape() != gy.shape()) {
    fail<GraphError>("checkpoint", "the function gave shape ", gy.shape(), " and, run again, ", y.shape());
  }
  for (const Node* leaf : leaves_behind(y, own, *mark.node())) {
    const auto is_leaf = [=](const Tensor& known) { return known.node().get() == leaf; };
    if (std::ranges::none_of(leaves, is_leaf)) {
      fail<GraphError>("checkpoint", "the function, run again, uses a leaf", leaf->name().empty() ? "" : " '",
                       leaf->name(), leaf->name().empty() ? "" : "'", " that it did not use before");
    }
  }
  const auto zeros = [](const Tensor& x) { return Tensor(Array(x.shape(), Real(0))); };
  Tensors all;
  for (const Tensor& input : inputs) all.push_back(zeros(input));
  for (const Tensor& leaf : leaves) all.push_back(zeros(leaf));
  if (!y.requires_grad()) return all;
  const Tensors found =
      detail::grad_since(mark.node()->id, y, xs, {.seed = gy, .create_graph = graph_wanted, .unused = Unused::zeros});
  for (std::size_t i = 0; i < found.size(); ++i) all[places[i]] = found[i];
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
  Array value;
  Tensors leaves;
  {
    const Tensor mark = variable(Real(0));
    Tensors own;
    for (const Tensor& input : inputs) own.push_back(input.requires_grad() ? variable(input) : input.detach());
    LeavesSeen seen;
    const Tensor y = run(f, own);
    if (!y.requires_grad()) return y;
    seen.see(y);
    for (const Node* leaf : leaves_behind(y, own, *mark.node())) leaves.push_back(seen.tensor(leaf));
    value = y.value();
  }
  constexpr std::size_t most = 60000;
  if (inputs.size() + leaves.size() > most) {
    fail<ValueError>("checkpoint", inputs.size(), " inputs and ", leaves.size(), " leaves, more than ", most);
  }
  Tensors all = inputs;
  all.insert(all.end(), leaves.begin(), leaves.end());
  return record("checkpoint", std::move(value), JointlyEach{{std::move(all)}, [=](const Tensor& gy, Wanted wanted) {
                                                              return gradients(f, inputs, leaves, random, gy, wanted);
                                                            }});
}

}  // namespace xgrad
