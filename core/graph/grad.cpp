// The backward pass.
//
// 1. Collect: a depth-first walk from y, with a stack of its own, lists the results of operations so that inputs come
//    before their results, and marks those that lead to a requested tensor. Leaves are not listed.
// 2. Check the graph: the requested tensors must be reached, and nothing may have been released or assigned since it
//    was recorded. Nothing has changed so far.
// 3. Go through the list backwards; each node's gradient is complete when its turn comes. Its rules give the gradients
//    of its inputs, which are added up; then the rules are released, unless the graph is to be kept.
// 4. Hand over the gradients: grad() returns them; backward() adds them to those of the leaves, all or none.
//
// Hooks and rules are foreign code: they may throw, return a wrong shape, drop the tensors that the pass was called
// with, assign leaves, or change the gradient that they are shown. So the pass holds everything that it works on,
// checks what they return, checks the versions of a node's inputs again when the node's turn comes, and gives every
// hook a handle of its own.
#include "grad.h"

#include <mutex>
#include <optional>

#include "../array/kernels/add.h"
#include "../base/pointer_list.h"
#include "../base/scope.h"
#include "donation.h"
#include "observe.h"

namespace xgrad {

using detail::Engine;

namespace {

// Graphs of several threads may end in the same leaves.
constinit std::mutex accumulation;

// The id of the rule that new nodes belong to: the outermost one, since a rule may differentiate.
std::uint32_t recorded_rule(const Node& node) {
  const std::uint32_t outer = detail::context.recorded_rule;
  return outer == 0 && recording() ? static_cast<std::uint32_t>(node.id) : outer;
}

Tensor with_role(Tensor made, NodeRole role) {
  if (const Ref<Node>& node = Engine::node(made)) node->role = role;
  return made;
}

// Adds gradients that meet, the one operation that the core itself needs.
Tensor add_recorded(const Tensor& a, const Tensor& b) {
  Array sum(a.shape());
  add_arrays(sum.mutable_data(), Engine::value(a).data(), Engine::value(b).data(), sum.size());
  const auto pass = [](const Tensor& gy) { return gy; };
  return with_role(record("add", std::move(sum), wrt(a, pass), wrt(b, pass)), NodeRole::sum_of_gradients);
}

void add_in_place(Array& to, const Array& from) { add_to(to.mutable_data(), from.data(), to.size()); }

void accumulate(Tensor& sum, Tensor&& term) {
  if (!sum.defined()) {
    sum = std::move(term);
  } else if (recording() || !Engine::unique(sum) || !Engine::value(sum).unique()) {
    sum = add_recorded(sum, term);
  } else {
    add_in_place(Engine::own_value(sum), Engine::value(term));
  }
}

// The requested tensors: node -> position.
using Targets = detail::PointerList<Node>;

enum class Collect { requested, all_leaves };

class Pass {
 public:
  Pass(const Tensor& y, Targets& targets, Collect collect, const char* caller, std::uint64_t oldest = 0)
      : y_(y), targets_(targets), collect_(collect), caller_(caller), oldest_(oldest), walk_(new_walk()) {}
  ~Pass() {
    for (Node* node : sorted_) node->walk.store(0, std::memory_order_release);
    for (const Frame& frame : stack_) frame.node->walk.store(0, std::memory_order_release);
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  void collect(std::uint64_t oldest);
  void check() const;
  // One above everything that is differentiated; a pass within a pass is part of the outer one.
  std::uint8_t grad_order() const {
    if (detail::context.grad_order != 0) return detail::context.grad_order;
    int highest = 0;
    for (const Node* node : sorted_) highest = std::max<int>(highest, node->grad_order);
    return static_cast<std::uint8_t>(std::min(highest + 1, 255));
  }
  bool reached(int target) const { return awaited_[static_cast<std::size_t>(target)] > 0; }
  // The gradients by target, undefined for those that are not reached.
  Tensors run(const Tensor& seed, bool release);

 private:
  struct Frame {
    Node* node;
    std::int32_t next_edge = 0;
    bool needed = false;
    bool stale = false;  // released, or an input that a rule holds was assigned
  };

  static std::uint32_t new_walk() {
    static std::atomic<std::uint32_t> last{0};
    std::uint32_t walk = last.fetch_add(1, std::memory_order_relaxed) + 1;
    if (walk == 0) walk = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return walk;
  }
  bool seen(const Node& node) const { return node.walk.load(std::memory_order_relaxed) == walk_; }
  // Whether a gradient must flow along this arrow.
  bool needed(const Edge& edge) const {
    const Node& node = *edge.to;
    if (!edge.carries || !node.requires_grad) return false;
    if (node.is_leaf()) return targets_.find(&node) != Targets::none;
    return seen(node) && needed_[static_cast<std::size_t>(node.slot)];
  }
  // For a node whose rules hold inputs: throws if one of them was assigned since it was recorded.
  static void check_versions(const Node& node);
  void make_room(std::size_t covers) {
    if (gradients_.size() >= covers) return;
    gradients_.resize(covers);
    wanted_ = std::make_unique<bool[]>(covers);
  }
  bool reach(Node& target);
  void push(Node& node);
  void visit(Node& node, const Tensor& gy, bool release);
  void deliver(const Node& from, const Edge& edge, Tensor&& gradient);
  Tensor hooked(Node& node, Tensor gradient) const;

  const Tensor y_;
  Targets& targets_;
  Collect collect_;
  const char* caller_;
  std::uint64_t oldest_;  // the gradients of nodes before this one become complete in the pass around this one
  std::uint32_t walk_;
  std::vector<Frame> stack_;
  std::vector<Node*> sorted_;          // inputs before results
  std::vector<unsigned char> needed_;  // by slot
  bool any_stale_ = false;
  std::vector<std::size_t> awaited_;  // by target: how many gradients are to be added up
  Tensors pending_;                   // by slot: gradients while they are being added up
  Tensors found_;                     // by target
  std::vector<int> done_;             // leaves that received their last gradient from the node being visited
  Tensors gradients_;                 // of a rule, for the edges that it covers
  std::unique_ptr<bool[]> wanted_;    // of the same
};

// Whether `node` is a target; counts the gradients that it awaits.
bool Pass::reach(Node& node) {
  const bool every_leaf = collect_ == Collect::all_leaves;
  const bool add = every_leaf && (node.is_leaf() || (node.extras && node.extras->retain_grad));
  const int target = add ? targets_.add(&node) : targets_.find(&node);
  if (target == Targets::none) return false;
  awaited_.resize(targets_.all().size());
  ++awaited_[static_cast<std::size_t>(target)];
  return true;
}

void Pass::push(Node& node) {
  stack_.push_back({.node = &node});  // first, so that no mark stays behind if this fails
  std::uint32_t unmarked = 0;
  if (!node.walk.compare_exchange_strong(unmarked, walk_, std::memory_order_acquire, std::memory_order_relaxed)) {
    stack_.pop_back();
    fail<GraphError>(caller_, "the graph is in use by another backward pass (at ", node.op, ")");
  }
  Frame& frame = stack_.back();
  frame.needed = reach(node);
  frame.stale = node.released;
}

// Nodes older than `oldest` cannot lead to a target.
void Pass::collect(std::uint64_t oldest) {
  awaited_.resize(targets_.all().size());
  Node& root = *Engine::node(y_);
  if (root.is_leaf()) {
    reach(root);
    return;
  }
  push(root);
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    Node* descend = nullptr;
    while (frame.next_edge < frame.node->edge_count) {
      const Edge& edge = frame.node->edges()[static_cast<std::size_t>(frame.next_edge++)];
      Node& to = *edge.to;
      frame.stale |= frame.node->captures_inputs && edge.version != to.version();
      if (!to.requires_grad || !edge.carries) continue;
      if (to.is_leaf()) {
        frame.needed |= reach(to);
      } else if (seen(to)) {
        frame.needed |= needed_[static_cast<std::size_t>(to.slot)] != 0;
      } else if (to.id >= oldest) {
        descend = &to;
        break;
      }
    }
    if (descend) {
      push(*descend);
      continue;
    }
    const Frame done = frame;
    // The marks of all nodes in the stack or the list are removed in the end: a node is always in one of them.
    needed_.push_back(done.needed);
    sorted_.push_back(done.node);
    stack_.pop_back();
    done.node->slot = static_cast<std::int32_t>(sorted_.size()) - 1;
    any_stale_ |= done.needed && done.stale;
    if (!stack_.empty()) stack_.back().needed |= done.needed;
  }
}

void Pass::check() const {
  if (!any_stale_) return;
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    if (!needed_[i]) continue;
    const Node& node = *sorted_[i];
    if (node.released) {
      fail<GraphError>(caller_, "the graph was already released by an earlier backward pass (at ", node.op,
                       "); pass {.retain_graph = true} to the earlier one, or run the forward pass again");
    }
    if (node.captures_inputs) check_versions(node);
  }
}

void Pass::check_versions(const Node& node) {
  for (const Edge& edge : node.edges()) {
    if (edge.to->version() == edge.version) continue;
    const std::string_view name = edge.to->name();
    fail<GraphError>(node.op, name.empty() ? std::string("an input") : str("'", name, "'"),
                     " was assigned after it was used here; run the forward pass again");
  }
}

Tensor Pass::hooked(Node& node, Tensor gradient) const {
  if (!node.extras || node.extras->hooks.empty() || node.id < oldest_) return gradient;
  const auto hooks = node.extras->hooks;  // a hook may remove itself
  gradient = Engine::copy_if_leaf(gradient);
  for (const auto& [id, hook] : hooks) {
    Tensor replaced = hook(gradient);
    if (!replaced.defined()) continue;
    if (replaced.shape() != gradient.shape()) {
      fail<ShapeError>("on_grad", "a hook returned shape ", replaced.shape(), " for a gradient of shape ",
                       gradient.shape());
    }
    gradient = std::move(replaced);
  }
  return gradient;
}

void Pass::deliver(const Node& from, const Edge& edge, Tensor&& gradient) {
  Node& to = *edge.to;
  if (!gradient.defined())
    fail<GraphError>(from.op, "the gradient rule returned nothing for an input of shape ", to.shape());
  if (!to.has_shape(gradient.shape())) {
    fail<GraphError>(from.op, "the gradient rule returned shape ", gradient.shape(), " for an input of shape ",
                     to.shape());
  }
  if (Observer::watching()) [[unlikely]] {
    detail::Notify::gradient(from, static_cast<std::size_t>(&edge - from.edges().data()), gradient);
  }
  if (!to.is_leaf()) {
    accumulate(pending_[static_cast<std::size_t>(to.slot)], std::move(gradient));
    return;
  }
  const int target = targets_.find(&to);
  accumulate(found_[static_cast<std::size_t>(target)], std::move(gradient));
  if (--awaited_[static_cast<std::size_t>(target)] == 0) done_.push_back(target);
}

// The result of a node, if one of its rules asks for it.
Tensor saved_result(Node& node) {
  if (!node.saved) return {};
  Array value(node.saved, node.shape());
  return recording() ? Engine::at_node(std::move(value), Ref<Node>::share(&node)) : Tensor(std::move(value));
}

// The rule of `edge` and of those that it covers: writes the gradients that are wanted to gx.
void run_rule(const Node& node, Edge& edge, const Tensor& gy, const Tensor& y, const bool* wanted, Tensor* gx) {
  const detail::ScopedValue rule(&detail::Context::recorded_rule, recorded_rule(node));
  edge.rule(gy, y, wanted, gx, &edge);
  if (!recording()) return;
  for (std::size_t j = 0; j < edge.covers; ++j) {  // a gradient that is only passed on leaves a trace, too
    if (wanted[j] && gx[j].defined() && same(gx[j], gy)) gx[j] = alias(gy);
  }
}

// Rules run where their operation was recorded: at its place in the model, and in its form.
void Pass::visit(Node& node, const Tensor& gy, bool release) {
  const detail::ScopedValue place(&detail::Context::place, detail::place_of_rule(node.place, node.op));
  const Plain form(node.plain);
  const detail::RuleScope rules(node);
  if (node.captures_inputs) check_versions(node);
  const Tensor y = saved_result(node);
  const std::span<Edge> edges = node.edges();
  const bool last = release && !recording() && edges[0].covers == edges.size();
  const detail::Donation donation(last ? &node : nullptr);
  std::size_t covers = 0;
  for (std::size_t i = 0; i < edges.size(); i += covers) {
    covers = edges[i].covers;
    make_room(covers);
    bool any = false;
    for (std::size_t j = 0; j < covers; ++j) any |= wanted_[j] = needed(edges[i + j]);
    if (!any) continue;
    run_rule(node, edges[i], gy, y, wanted_.get(), gradients_.data());
    for (std::size_t j = 0; j < covers; ++j) {
      Tensor gradient = std::exchange(gradients_[j], Tensor());
      if (wanted_[j]) deliver(node, edges[i + j], std::move(gradient));
    }
  }
  if (release) node.release();
}

Tensors Pass::run(const Tensor& seed, bool release) {
  pending_.resize(sorted_.size());
  found_.resize(targets_.all().size());
  const auto finish_leaves = [&] {
    for (const int target : done_) {
      Node& leaf = *targets_.all()[static_cast<std::size_t>(target)];
      Tensor& gradient = found_[static_cast<std::size_t>(target)];
      gradient = hooked(leaf, std::move(gradient));
      if (Observer::watching() && leaf.id >= oldest_) [[unlikely]]
        detail::Notify::complete_gradient(leaf, gradient);
    }
    done_.clear();
  };
  Node& root = *Engine::node(y_);
  if (!root.is_leaf()) {
    pending_[static_cast<std::size_t>(root.slot)] = seed;
  } else if (const int target = targets_.find(&root); target != Targets::none) {
    found_[static_cast<std::size_t>(target)] = seed;
    done_.push_back(target);
  }
  finish_leaves();
  for (std::size_t slot = sorted_.size(); slot-- > 0;) {
    if (!needed_[slot] || !pending_[slot].defined()) continue;
    Node& node = *sorted_[slot];
    const Tensor gy = hooked(node, std::exchange(pending_[slot], Tensor()));
    if (Observer::watching()) [[unlikely]]
      detail::Notify::complete_gradient(node, gy);
    if (const int target = targets_.find(&node); target != Targets::none) found_[static_cast<std::size_t>(target)] = gy;
    visit(node, gy, release);
    finish_leaves();
  }
  return std::move(found_);
}

Tensor seed_for(const char* caller, const Tensor& y, const Tensor& seed) {
  if (!y.requires_grad()) {
    const std::string_view why = why_no_history(Engine::computed_in(y));
    if (!why.empty()) fail<GraphError>(caller, "the result ", why);
    fail<GraphError>(caller, "the result depends on nothing that requires a gradient",
                     y.is_leaf() ? " (it is not the result of a recorded operation)" : "");
  }
  if (!seed.defined()) {
    if (y.size() != 1) {
      fail<GraphError>(caller, "the result has shape ", y.shape(),
                       ", not one element: take its sum() or mean() first, or give a seed, the gradient of the result");
    }
    return Tensor(Array(y.shape(), Real(1)));
  }
  if (seed.shape() != y.shape()) {
    fail<ShapeError>(caller, "the seed has shape ", seed.shape(), ", the result has shape ", y.shape());
  }
  return seed;
}

// Whether y was computed from a leaf before gradients flowed to the leaf.
bool required_grad_too_late(const Node& leaf, const Tensor& y) {
  bool late = false;
  detail::walk_graph(
      {Engine::node(y).get()}, [](const Node&) { return true; },
      [&](const Edge& edge) { return late |= edge.to.get() == &leaf && !edge.carries, true; });
  return late;
}

// Names the gradient of a named tensor, dloss/dw, if the pass has made it: other tensors keep their names.
void name_gradient(const Tensor& gradient, const Tensor& y, const Tensor& x) {
  const Ref<Node>& node = Engine::node(gradient);
  if (!node || node->grad_order != detail::context.grad_order || x.name().empty() || !gradient.name().empty()) return;
  gradient.named(str("d", y.name().empty() ? "L" : y.name(), "/d", x.name()));
}

std::string described(const Tensor& x) {
  return x.name().empty() ? str("a tensor of shape ", x.shape()) : str("'", x.name(), "'");
}

}  // namespace

XGRAD_FORMULA alias_formula{"alias", "y = x", "dL/dx = gy"};
Tensor alias(const Tensor& x) {
  return with_role(record("alias", x.value(), wrt(x, [](const Tensor& gy) { return gy; })), NodeRole::alias);
}

Tensors grad(const Tensor& y, const Tensors& xs, const GradOptions& options) {
  return detail::grad_since(0, y, xs, options);
}

Tensors detail::grad_since(std::uint64_t oldest, const Tensor& result_of, const Tensors& with_respect_to,
                           const GradOptions& options) {
  // A hook may change the caller's tensors: NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const Tensor y = result_of;
  const Tensors xs = with_respect_to;  // NOLINT(performance-unnecessary-copy-initialization): likewise
  Tensor seed = seed_for("grad", y, options.seed);
  Targets targets(xs.size());
  std::vector<int> target_of;
  std::uint64_t oldest_target = ~std::uint64_t{0};
  for (const Tensor& x : xs) {
    if (!x.requires_grad()) {
      fail<GraphError>("grad", described(x), " does not require a gradient: it is frozen or a constant ",
                       "(optim::trainable(parameters) leaves such out)");
    }
    target_of.push_back(targets.add(Engine::node(x).get()));
    oldest_target = std::min(oldest_target, Engine::node(x)->id);
  }
  Pass pass(y, targets, Collect::requested, "grad", oldest);
  pass.collect(std::max(oldest_target, oldest));
  pass.check();
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Tensor& x = xs[i];
    if (options.unused == Unused::zeros || pass.reached(target_of[i])) continue;
    if (required_grad_too_late(*Engine::node(x), y)) {
      fail<GraphError>("grad", described(x), " did not require a gradient yet when the result was computed from it; ",
                       "run the forward pass again");
    }
    fail<GraphError>("grad", "the result does not depend on ", described(x),
                     "; pass {.unused = Unused::zeros} if that is meant");
  }
  const bool with_graph = options.create_graph, release = !options.retain_graph && !with_graph;
  const detail::ScopedValue grad_mode(&detail::Context::grad_mode,
                                      with_graph ? GradMode::recording : GradMode::gradient);
  std::optional<TraceAll> trace;
  if (with_graph) trace.emplace();
  const detail::ScopedValue grad_order(&detail::Context::grad_order,
                                       with_graph ? pass.grad_order() : detail::context.grad_order);
  if (with_graph && !Engine::node(seed)) {
    seed = Engine::copy_if_leaf(seed);  // the caller's stays as it is
    Engine::ensure_node(seed)->op = "seed";
    Engine::node(seed)->role = NodeRole::seed;
  }
  const Tensors found = pass.run(seed, release);
  Tensors result;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Tensor& g = found[static_cast<std::size_t>(target_of[i])];
    if (with_graph && g.defined()) {
      result.push_back(Engine::copy_if_leaf(g));
      name_gradient(result.back(), y, xs[i]);
    } else {
      Array value = g.defined() ? g.value() : Array(Engine::node(xs[i])->shape(), Real(0));
      result.push_back(Engine::unrecorded(std::move(value), GradMode::gradient));
    }
  }
  return result;
}

void Tensor::backward() const { backward(BackwardOptions{}); }

void Tensor::backward(const BackwardOptions& options) const {
  const Tensor seed = seed_for("backward", *this, options.seed);
  Targets targets(32);
  Pass pass(*this, targets, Collect::all_leaves, "backward");
  pass.collect(0);
  pass.check();
  const detail::ScopedValue grad_mode(&detail::Context::grad_mode, GradMode::gradient);
  Tensors found = pass.run(seed, !options.retain_graph);

  const std::lock_guard lock(accumulation);
  // Everything that can fail happens before the first gradient changes.
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined()) continue;
    NodeExtras& extras = targets.all()[i]->ensure_extras();
    if (extras.passes > 0) {
      extras.grad.mutable_data();  // a copy of its own, if it is shared
    } else if (!Engine::unique(found[i]) || !Engine::value(found[i]).unique()) {
      found[i] = Tensor(Array(found[i].shape(), std::span(found[i].value().begin(), found[i].value().end())));
    }
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].defined()) continue;
    NodeExtras& extras = *targets.all()[i]->extras;
    if (extras.passes++ > 0) {
      add_in_place(extras.grad, found[i].value());
    } else {
      extras.grad = Engine::take_value(std::move(found[i]));
    }
  }
}

}  // namespace xgrad
