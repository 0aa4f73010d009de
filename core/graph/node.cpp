// Creation and destruction of nodes.
#include "node.h"

#include "../base/error.h"
#include "../base/scope.h"

namespace xgrad {

static_assert(sizeof(Node) + 2 * sizeof(Edge) <= 128);  // two lines of the cache

namespace {

// Of all threads.
struct {
  std::atomic<std::uint64_t> ids_taken{0};
  std::atomic<std::int64_t> alive{0};
} constinit nodes;

// Each thread takes many ids at a time: a shared counter costs more than all else about a node.
class Ids {
 public:
  std::uint64_t next() {
    if (last_ == end_) take_more();
    return ++last_;
  }
  std::uint64_t next_above(std::uint64_t id) {
    if (last_ < id) take_more();  // above all ids that any thread has given out
    return next();
  }

 private:
  void take_more() {
    constexpr std::uint64_t count = 256;
    last_ = nodes.ids_taken.fetch_add(count, std::memory_order_relaxed);
    end_ = last_ + count;
  }

  std::uint64_t last_ = 0, end_ = 0;
};
thread_local constinit Ids ids;

std::uint32_t made_in_now() {
  return detail::context.grad_order > 0 ? detail::context.recorded_rule : detail::context.call;
}

}  // namespace

// Not inlined into raise_id_above(), which needs no stack then.
[[gnu::noinline]] std::uint64_t detail::take_node_id_above(std::uint64_t id) { return ids.next_above(id); }

std::int64_t live_node_count() { return nodes.alive.load(std::memory_order_relaxed); }

NodeExtras& LazyExtras::ensure() {
  if (NodeExtras* there = get()) return *there;
  auto mine = std::make_unique<NodeExtras>();
  NodeExtras* first = nullptr;
  if (!extras_.compare_exchange_strong(first, mine.get(), std::memory_order_acq_rel)) return *first;
  return *mine.release();
}

Ref<Node> Node::create(const char* op, const Shape& shape, int edges, bool counts) {
  auto* node = new (pool_allocate(bytes(shape.rank(), edges, counts), PoolUse::nodes)) Node;
  nodes.alive.fetch_add(1, std::memory_order_relaxed);
  node->op = op;
  node->id = ids.next();
  node->place = detail::context.place;
  node->edge_count = edges;
  node->rank = static_cast<std::uint8_t>(shape.rank());
  node->grad_order = detail::context.grad_order;
  node->plain = detail::context.plain;
  node->counts = counts;
  if (edges > 0) node->version_or_made_in_ = made_in_now();
  for (int i = 0; i < edges; ++i) new (node->first_edge() + i) Edge;
  std::ranges::copy(shape, node->sizes());
  return Ref<Node>::adopt(node);
}

void Node::count_assignment() {
  if (trace()) {
    op = "leaf";
    role = NodeRole::ordinary;
    extras->trace = nullptr;
    extras->attributes.clear();
  }
  ++version_or_made_in_;
}

void Node::set_trace(const char* by, std::vector<Ref<Node>>&& inputs, const std::vector<Attribute>& attributes,
                     NodeRole made_as) {
  ensure_extras().attributes = attributes;
  extras->trace.reset(new Trace{std::move(inputs), made_in_now()});
  op = by;
  role = made_as;
  saved = nullptr;
}

void Node::raise_id_above(const Node& input) {
  if (id <= input.id) id = detail::take_node_id_above(input.id);
}

void Node::release() noexcept {
  released = true;
  for (Edge& edge : edges()) edge.rule.reset();
  saved = nullptr;
}

void Node::destroy(Node* node) noexcept {
  // Taking a node apart drops its inputs, and its rules drop tensors that hold other nodes; those come back here and
  // only join the list, so the stack stays flat. The list is threaded through the dead nodes themselves.
  struct Dead {
    Node* waiting = nullptr;
    bool busy = false;
  };
  static thread_local constinit Dead dead_nodes;
  auto& [waiting, busy] = dead_nodes;
  static_assert(sizeof(Node::id) >= sizeof(std::uintptr_t));
  node->id = reinterpret_cast<std::uintptr_t>(std::exchange(waiting, node));
  if (std::exchange(busy, true)) return;
  std::int64_t count = 0;
  while (waiting) {
    Node* dead = std::exchange(waiting, reinterpret_cast<Node*>(waiting->id));
    const std::size_t size = bytes(dead->rank, dead->edge_count, dead->counts);
    std::destroy(dead->edges().begin(), dead->edges().end());
    dead->~Node();
    pool_release(dead, size, PoolUse::nodes);
    ++count;
  }
  nodes.alive.fetch_sub(count, std::memory_order_relaxed);
  busy = false;
}

}  // namespace xgrad
