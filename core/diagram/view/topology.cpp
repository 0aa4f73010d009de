// Orders, passes, cycles and merging of vertices.
#include "topology.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "../../base/assert.h"
#include "../../base/error.h"

namespace xgrad::detail {
namespace {

auto position_of(const GraphEdge& edge) { return std::tuple(edge.to, edge.input, edge.from); }

}  // namespace

Indexed<int> topological_indices(const GraphView& view) {
  const int count = view.vertices.count();
  Indexed<Indexed<int>> users(count);
  Indexed<int> missing(count), indices(count, nothing);
  for (const GraphEdge& edge : view.edges) {
    users[edge.from].push_back(edge.to);
    ++missing[edge.to];
  }
  using Ready = std::pair<int, int>;  // an index, of a mask that of its first user; and the vertex
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  const auto add = [&](int v) {
    const bool given = view.vertices[v].flow == GraphFlow::mask && !users[v].empty();
    ready.emplace(given ? std::min(v, std::ranges::min(users[v])) : v, v);
  };
  for (int v = 0; v < count; ++v) {
    if (missing[v] == 0) add(v);
  }
  for (int next = 0; !ready.empty(); ++next) {
    const int v = ready.top().second;
    ready.pop();
    indices[v] = next;
    for (const int user : users[v]) {
      if (--missing[user] == 0) add(user);
    }
  }
  return indices;
}

void check_view(const GraphView& view, std::string_view caller) {
  const int vertices = view.vertices.count(), frames = view.frames.count();
  const auto refuse = [caller](const auto&... what) { fail<GraphError>(caller, "a view by hand: ", what...); };
  for (int f = 0; f < frames; ++f) {
    const int parent = view.frames[f].parent;
    if (parent < nothing || parent >= f) refuse("frame ", f, " is in frame ", parent, "; parents come before children");
  }
  for (int v = 0; v < vertices; ++v) {
    const auto [frame, rule_of] = std::pair(view.vertices[v].frame, view.vertices[v].rule_of);
    if (frame < nothing || frame >= frames) refuse("vertex ", v, " is in frame ", frame, " of ", frames);
    if (rule_of < nothing || rule_of >= vertices)
      refuse("vertex ", v, " is a rule of vertex ", rule_of, " of ", vertices);
  }
  for (int e = 0; e < view.edges.count(); ++e) {
    for (const int end : {view.edges[e].from, view.edges[e].to}) {
      if (end < 0 || end >= vertices) refuse("edge ", e, " has an end at vertex ", end, " of ", vertices);
    }
  }
  const Indexed<int> indices = topological_indices(view);
  if (const auto v = std::ranges::find(indices, nothing); v != indices.end()) {
    refuse("vertex ", v - indices.begin(), " is on or behind a cycle of edges");
  }
}

GraphView reindexed(GraphView view, const Indexed<int>& indices) {
  for ([[maybe_unused]] const GraphEdge& edge : view.edges) XGRAD_ASSERT(indices[edge.to] != nothing);
  Indexed<GraphVertex> vertices(indices.count() - std::ranges::count(indices, nothing));
  for (int v = 0; v < indices.count(); ++v) {
    if (indices[v] != nothing) vertices[indices[v]] = std::move(view.vertices[v]);
  }
  for (GraphVertex& vertex : vertices) {
    if (vertex.rule_of != nothing) vertex.rule_of = indices[vertex.rule_of];
  }
  view.vertices = std::move(vertices);
  std::erase_if(view.edges, [&](const GraphEdge& edge) { return indices[edge.from] == nothing; });
  for (GraphEdge& edge : view.edges) {
    edge.from = indices[edge.from];
    edge.to = indices[edge.to];
  }
  std::ranges::stable_sort(view.edges, {}, position_of);
  return view;
}

std::string_view rule_in(const GraphVertex& vertex) {
  const std::string_view op = vertex.op;
  const bool is_rule = vertex.role == GraphRole::gradient_operation && op.ends_with('\'');
  return is_rule ? op.substr(0, op.size() - 1) : std::string_view();
}

EdgeKind kind_of(const GraphView& view, const GraphEdge& edge) {
  const int from = view.vertices[edge.from].order, to = view.vertices[edge.to].order;
  return from != to ? EdgeKind::borrowed : to > 0 ? EdgeKind::gradient : EdgeKind::value;
}

bool runs_up_again(const GraphView& view) {
  int highest_order = 0;
  for (const GraphVertex& vertex : view.vertices) highest_order = std::max(highest_order, vertex.order);
  return highest_order == 1;
}

namespace {

// For each vertex whether it is on a cycle, that is, in a strongly connected component with others (Tarjan 1972). An
// arrow from a vertex to itself is none.
Indexed<bool> on_cycles(const Indexed<Indexed<int>>& users) {
  struct Visit {
    int vertex;
    int next_user = 0;
  };
  Indexed<int> entered(users.count(), nothing), low(users.count());
  Indexed<bool> open(users.count()), on_cycle(users.count());
  std::vector<int> waiting;  // entered, not yet in a component
  int time = 0;
  for (int root = 0; root < users.count(); ++root) {
    if (entered[root] != nothing) continue;
    std::vector<Visit> stack;
    const auto visit = [&](int v) {
      entered[v] = low[v] = time++;
      open[v] = true;
      waiting.push_back(v);
      stack.push_back({v});
    };
    visit(root);
    while (!stack.empty()) {
      Visit& top = stack.back();
      const int v = top.vertex;
      if (top.next_user < users[v].count()) {
        const int user = users[v][top.next_user++];
        if (entered[user] == nothing) {
          visit(user);
        } else if (open[user]) {
          low[v] = std::min(low[v], entered[user]);
        }
        continue;
      }
      stack.pop_back();
      if (!stack.empty()) low[stack.back().vertex] = std::min(low[stack.back().vertex], low[v]);
      if (low[v] != entered[v]) continue;
      const bool alone = waiting.back() == v;
      int member = nothing;
      do {
        member = waiting.back();
        waiting.pop_back();
        open[member] = false;
        on_cycle[member] = !alone;
      } while (member != v);
    }
  }
  return on_cycle;
}

}  // namespace

GraphView merged(const GraphView& view, const Indexed<int>& becomes, Together together, const Indexed<bool>& hidden) {
  XGRAD_ASSERT(becomes.size() == view.vertices.size() && (hidden.empty() || hidden.size() == view.edges.size()));
  GraphView result;
  Indexed<int> index(view.vertices.count(), nothing), frame_index(view.frames.count(), nothing);
  Indexed<bool> used(view.frames.count());
  for (int v = 0; v < view.vertices.count(); ++v) {
    if (becomes[v] != v) continue;
    index[v] = result.vertices.count();
    result.vertices.push_back(view.vertices[v]);
    for (int c = view.vertices[v].frame; c != nothing && !used[c]; c = view.frames[c].parent) used[c] = true;
  }
  for (int c = 0; c < view.frames.count(); ++c) {
    if (!used[c]) continue;
    frame_index[c] = result.frames.count();
    GraphFrame& frame = result.frames.emplace_back(view.frames[c]);
    if (frame.parent != nothing) frame.parent = frame_index[frame.parent];
  }
  for (GraphVertex& vertex : result.vertices) {
    if (vertex.frame != nothing) vertex.frame = frame_index[vertex.frame];
    if (vertex.rule_of != nothing) vertex.rule_of = index[becomes[vertex.rule_of]];
  }
  std::vector<std::pair<GraphEdge, int>> edges;  // and the vertex at which each began
  for (int e = 0; e < view.edges.count(); ++e) {
    const GraphEdge& edge = view.edges[e];
    const int from = becomes[edge.from], to = becomes[edge.to];
    if ((!hidden.empty() && hidden[e]) || (from == to && edge.from != edge.to)) continue;
    GraphEdge& drawn = edges.emplace_back(edge, edge.from).first;
    drawn.from = index[from];
    drawn.to = index[to];
    if (result.vertices[drawn.to].role == GraphRole::module) drawn.input = 0;
  }
  std::ranges::stable_sort(edges, {}, [](const auto& edge) { return position_of(edge.first); });
  Indexed<std::pair<int, int>> last(result.vertices.count(), {nothing, nothing});  // by vertex: its last arrow
  for (const auto& [edge, began] : edges) {
    if (!result.edges.empty() && position_of(result.edges.back()) == position_of(edge)) continue;
    auto& [to, origin] = last[edge.from];
    if (together == Together::equal && to == edge.to && origin != began) continue;
    to = edge.to;
    origin = began;
    result.edges.push_back(edge);
  }
  return result;
}

Indexed<bool> on_cycles_once_merged(const GraphView& view, const Indexed<int>& becomes, const Indexed<bool>& hidden) {
  Indexed<Indexed<int>> users(view.vertices.count());
  for (int e = 0; e < view.edges.count(); ++e) {
    const int from = becomes[view.edges[e].from], to = becomes[view.edges[e].to];
    if (from != to && (hidden.empty() || !hidden[e])) users[from].push_back(to);
  }
  return on_cycles(users);
}

}  // namespace xgrad::detail
