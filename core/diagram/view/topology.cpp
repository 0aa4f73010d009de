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

// Appends a vertex and those that arrows lead to from it, unless they were visited before, each after those behind it.
void visit_from(int root, const Indexed<Indexed<int>>& arrows, Indexed<bool>& visited, Indexed<int>& list) {
  struct Visit {
    int vertex;
    int next_arrow = 0;
  };
  std::vector<Visit> stack;
  const auto enter = [&](int v) {
    if (visited[v]) return;
    visited[v] = true;
    stack.push_back({v});
  };
  enter(root);
  while (!stack.empty()) {
    auto& [vertex, next_arrow] = stack.back();
    if (next_arrow < arrows[vertex].count()) {
      enter(arrows[vertex][next_arrow++]);
    } else {
      list.push_back(vertex);
      stack.pop_back();
    }
  }
}

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

// The strongly connected components, each of which is a cycle if it has several vertices (Sharir 1981).
Indexed<bool> on_cycles_once_merged(const GraphView& view, const Indexed<int>& becomes, const Indexed<bool>& hidden) {
  const int count = view.vertices.count();
  Indexed<Indexed<int>> users(count), inputs(count);
  for (int e = 0; e < view.edges.count(); ++e) {
    const int from = becomes[view.edges[e].from], to = becomes[view.edges[e].to];
    if (from == to || (!hidden.empty() && hidden[e])) continue;
    users[from].push_back(to);
    inputs[to].push_back(from);
  }
  Indexed<bool> visited(count), on_cycle(count);
  Indexed<int> order;
  for (int v = 0; v < count; ++v) visit_from(v, users, visited, order);
  visited.assign(visited.size(), false);
  for (int i = count; i-- > 0;) {
    Indexed<int> component;
    visit_from(order[i], inputs, visited, component);
    for (const int v : component) on_cycle[v] = component.size() > 1;
  }
  return on_cycle;
}

}  // namespace xgrad::detail
