// The graph: nodes, the arrows between them, and the rules that carry gradients along the arrows.
//
// A Node is one vertex of the computational graph: the operation, the shape of its result, arrows to its inputs and a
// rule for the gradient of each input. It holds no values, except its result if a rule needs it: values live in
// Tensors, and rules hold the Tensors that they capture. Only record() makes nodes (core/graph/record.h). Afterwards,
// only names, hooks, gradients and the versions of leaves change.
//
// All arrows point from results to inputs. So there are no cycles, and dropping the last Tensor of a result frees the
// graph behind it. Freeing is a loop and not a recursion. One graph belongs to one thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "../array/array.h"

namespace xgrad {

class Tensor;
struct Edge;
struct Place;
namespace detail {
class ModelParameters;
}

/// The gradient rule of one input, or of several inputs at once: any callable. A callable no larger than a Tensor (one
/// pointer) is stored inside the Rule, a larger one in a block of its own.
///
///     gx = rule(gy, y)      gy: gradient of the result, y: result (undefined unless the rule asks for it)
class Rule {
 public:
  Rule() = default;
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;
  ~Rule() { reset(); }

  /// Stores the callable f. `Kind::call(f, gy, y, wanted, gx, edges)` writes the wanted gradients to gx[0], gx[1], ...;
  /// edges[i] leads to the input whose gradient is gx[i].
  template <class Kind, class F>
  void set(F&& f) {
    using Function = std::decay_t<F>;
    using Block = PoolAllocator<Function>;
    static constexpr bool in_place = sizeof(Function) <= sizeof(storage_) && alignof(Function) <= alignof(void*);
    if constexpr (in_place) {
      new (storage_) Function(std::forward<F>(f));
    } else {
      struct Room {  // released if the function cannot be copied
        Function* block;
        ~Room() {
          if (block) Block().deallocate(block, 1);
        }
      } outside{Block().allocate(1)};
      new (outside.block) Function(std::forward<F>(f));
      new (storage_) Function*(std::exchange(outside.block, nullptr));
    }
    static constexpr auto function = [](const void* storage) -> Function& {
      if constexpr (in_place) return *static_cast<Function*>(const_cast<void*>(storage));
      return **static_cast<Function* const*>(storage);
    };
    static constexpr Methods methods{
        [](void* storage, const Tensor& gy, const Tensor& y, const bool* wanted, Tensor* gx, const Edge* edges) {
          Kind::call(function(storage), gy, y, wanted, gx, edges);
        },
        [](void* storage) noexcept {
          Function& gone = function(storage);
          gone.~Function();
          if constexpr (!in_place) Block().deallocate(&gone, 1);
        },
        [](const void* storage) { copied(std::as_const(function(storage))); }};
    methods_ = &methods;
  }
  void reset() noexcept {
    if (const Methods* methods = std::exchange(methods_, nullptr)) methods->destroy(storage_);
  }
  explicit operator bool() const { return methods_ != nullptr; }
  void operator()(const Tensor& gy, const Tensor& y, const bool* wanted, Tensor* gx, const Edge* edges) {
    methods_->call(storage_, gy, y, wanted, gx, edges);
  }
  /// Copies the rule and drops the copy, so that a CopyListener sees the tensors that the rule holds.
  void copy_captures() const {
    if (methods_) methods_->copy(storage_);
  }

 private:
  struct Methods {
    void (*call)(void*, const Tensor&, const Tensor&, const bool*, Tensor*, const Edge*);
    void (*destroy)(void*) noexcept;
    void (*copy)(const void*);
  };
  template <class Function>
  static void copied(const Function& function) {
    if constexpr (std::is_copy_constructible_v<Function>) static_cast<void>(Function(function));
  }
  const Methods* methods_ = nullptr;
  alignas(void*) unsigned char storage_[sizeof(void*)];
};

struct Node;

/// An arrow from a result to one of its inputs.
struct Edge {
  Ref<Node> to;
  std::uint32_t version = 0;      ///< the version of the input when the graph was recorded
  std::uint32_t covers : 31 = 1;  ///< the number of edges, this one first, that the rule serves
  bool carries : 1 = false;       ///< whether the input required a gradient when the graph was recorded
  Rule rule;                      ///< empty if no gradient flows here, or if an earlier edge's rule serves this one
};

/// A function that is called with the complete gradient of a tensor. The gradient is replaced by the result, unless the
/// result is an undefined Tensor.
using GradientHook = std::function<Tensor(const Tensor& gradient)>;

/// The value of an attribute of an operation: a number, a word, a shape, or an array that is not a Tensor.
using AttributeValue = std::variant<std::int64_t, double, bool, std::string_view, Shape, Index, Mask>;
struct Attribute {
  const char* name;
  AttributeValue value;
};

/// The operation that computed a leaf, if no gradient flows through the operation. Diagrams show it (TraceAll).
struct Trace {
  std::vector<Ref<Node>> inputs;
  std::uint32_t made_in;  ///< the value for Node::rule_id() and Node::call()
};

/// The reason why the engine itself made a node.
enum class NodeRole : std::uint8_t {
  ordinary,
  seed,              ///< where a backward pass begins
  alias,             ///< a gradient that a rule passes on
  detached,          ///< the trace of detach()
  sum_of_gradients,  ///< the sum of gradients that meet at one tensor
};

/// Fields that few nodes need.
struct NodeExtras {
  std::string name;
  std::vector<Attribute> attributes;
  std::unique_ptr<Trace> trace;
  Array grad;      ///< the gradient accumulated by backward()
  int passes = 0;  ///< the number of backward passes that `grad` sums; 0: no gradient
  bool retain_grad = false;
  bool integers = false;  ///< a buffer of a module that holds integers
  std::uint64_t next_hook = 1;
  std::vector<std::pair<std::uint64_t, GradientHook>> hooks;
  std::weak_ptr<detail::ModelParameters> model;  ///< the model that a parameter belongs to
  std::uint64_t index_in_model = 0;
};

/// The extras of a node. The first thread that needs them makes them.
class LazyExtras {
 public:
  LazyExtras() = default;
  LazyExtras(const LazyExtras&) = delete;
  LazyExtras& operator=(const LazyExtras&) = delete;
  ~LazyExtras() { delete get(); }
  NodeExtras* get() const { return extras_.load(std::memory_order_acquire); }
  NodeExtras* operator->() const { return get(); }
  NodeExtras& operator*() const { return *get(); }
  explicit operator bool() const { return get() != nullptr; }
  NodeExtras& ensure();

 private:
  std::atomic<NodeExtras*> extras_{nullptr};
};

/// One vertex of the graph: see above.
/// With up to two edges it fits into two cache lines, because memory traffic limits the speed of small operations.
/// Threads: threads may share nodes, and any thread may drop a node. See core/graph/tensor.h for names, hooks and
/// gradients.
struct Node {
  RefCount refs;

 private:
  std::uint32_t version_or_made_in_ = 0;  // version of a leaf; rule or call that ran an operation

 public:
  const char* op = "leaf";
  const Place* place = nullptr;  ///< the place in the model where it was recorded, interned; may be null
  std::uint64_t id = 0;          ///< larger than the ids of all inputs
  Ref<Buffer<Real>> saved;       ///< the result, if a rule asked for it; the value of a scalar constant
  LazyExtras extras;

  std::int32_t edge_count = 0;
  std::uint8_t rank = 0;
  std::uint8_t grad_order = 0;  ///< 0: forward pass, 1: its recorded backward pass, 2: backward pass of order 1, ...
  bool requires_grad : 1 = false;
  bool captures_inputs : 1 = false;      ///< a rule holds tensors, so inputs must not be assigned afterwards
  bool plain : 1 = false;                ///< recorded under Plain; its rules run under Plain, too
  bool unrecorded_gradient : 1 = false;  ///< a leaf that is a gradient without a graph, or was computed from one
  bool counts : 1 = false;               ///< its multiply-adds are known; they are stored after its shape
  NodeRole role : 3 = NodeRole::ordinary;
  bool released = false;  ///< the rules are gone after a backward pass (other threads may read the bits above)

  // Scratch space of the current walk (core/graph/grad.cpp).
  std::int32_t slot = 0;
  std::atomic<std::uint32_t> walk{0};

  bool is_leaf() const { return edge_count == 0; }
  /// The number of assignments to a leaf; 0 for an operation.
  std::uint32_t version() const { return is_leaf() ? version_or_made_in_ : 0; }
  void count_assignment();  ///< notes that a leaf has a new value, which no operation computed
  /// For an operation that a gradient rule ran: the low bits of the id of the operation with that rule; else 0.
  std::uint32_t rule_id() const { return grad_order > 0 ? made_in() : 0; }
  /// For an operation of a forward pass: the number of the module call in which it ran (base/scope.h), or 0.
  std::uint32_t call() const { return grad_order == 0 ? made_in() : 0; }
  /// The trace of a leaf whose value an operation computed; else nullptr.
  const Trace* trace() const { return extras ? extras->trace.get() : nullptr; }
  void set_trace(const char* by, std::vector<Ref<Node>>&& inputs, const std::vector<Attribute>& attributes,
                 NodeRole role = NodeRole::ordinary);
  std::span<Edge> edges() { return {first_edge(), static_cast<std::size_t>(edge_count)}; }
  std::span<const Edge> edges() const { return {first_edge(), static_cast<std::size_t>(edge_count)}; }
  Shape shape() const { return Shape(ShortList<std::int64_t>({sizes(), static_cast<std::size_t>(rank)})); }
  bool has_shape(const Shape& other) const { return std::ranges::equal(std::span(sizes(), rank), other); }
  std::string_view name() const { return extras ? std::string_view(extras->name) : std::string_view(); }
  NodeExtras& ensure_extras() { return extras.ensure(); }
  /// The multiply-adds that were passed to record(); 0 if none were.
  std::int64_t multiply_adds() const { return counts ? sizes()[rank] : 0; }
  void set_multiply_adds(std::int64_t count) { sizes()[rank] = count; }
  /// Takes an id above the input's id unless its own is larger already. The input can have a larger id if it is a
  /// constant, which gets its node at its first use, or if another thread made it.
  void raise_id_above(const Node& input);
  /// Releases the rules and saved values; the arrows stay, so that the graph can still be drawn.
  void release() noexcept;

  /// A new node of `shape` with `edges` empty arrows, and with space for multiply-adds if `counts` is set.
  static Ref<Node> create(const char* op, const Shape& shape, int edges, bool counts = false);
  /// Destroys a node. Its inputs are released in a loop, so that a long chain does not overflow the stack.
  static void destroy(Node* node) noexcept;

 private:
  std::uint32_t made_in() const { return trace() ? trace()->made_in : is_leaf() ? 0 : version_or_made_in_; }
  static std::size_t bytes(int rank, int edges, bool counts) {
    return sizeof(Node) + sizeof(Edge) * static_cast<std::size_t>(edges) +
           sizeof(std::int64_t) * static_cast<std::size_t>(rank + counts);
  }
  // After the node in its block: the edges, then the sizes of the shape, then the multiply-adds if it counts.
  Edge* first_edge() const { return reinterpret_cast<Edge*>(const_cast<Node*>(this) + 1); }
  std::int64_t* sizes() const { return reinterpret_cast<std::int64_t*>(first_edge() + edge_count); }
};

namespace detail {
/// An id above `id` and all ids that this thread has used. No node gets it; later nodes of this thread have larger ids.
std::uint64_t take_node_id_above(std::uint64_t id);

/// Visits the results in `found`, then the nodes that they were computed from, each once, breadth first. Goes on from
/// nodes where visit(node) is true, along arrows where follow(edge) is true.
template <class Visit, class Follow>
void walk_graph(std::vector<const Node*> found, const Visit& visit, const Follow& follow) {
  std::unordered_set<const Node*> seen(found.begin(), found.end());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Node& node = *found[i];
    if (!visit(node)) continue;
    for (const Edge& edge : node.edges()) {
      if (follow(edge) && seen.insert(edge.to.get()).second) found.push_back(edge.to.get());
    }
  }
}
}  // namespace detail

/// The number of nodes that exist now, in all threads. It must not grow from step to step of a training loop.
std::int64_t live_node_count();

}  // namespace xgrad
