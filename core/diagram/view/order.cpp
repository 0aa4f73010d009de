// Orders, passes, cycles and merging of vertices.
#include "order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "../../base/assert.h"

namespace xgrad::detail {

std::vector<int> topological_numbers(const GraphView& view) {
  const auto count = static_cast<int>(view.vertices.size());
  std::vector<std::vector<int>> users(view.vertices.size());
  std::vector<int> missing(view.vertices.size()), numbers(view.vertices.size(), nothing);
  for (const GraphEdge& edge : view.edges) {
    users[edge.from].push_back(edge.to);
    ++missing[edge.to];
  }
  using Ready = std::pair<int, int>;  // a number, of a mask that of its first user; and the vertex
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  const auto add = [&](int v) {
    const bool given = view.vertices[v].flow == GraphFlow::mask && !users[v].empty();
    ready.emplace(given ? std::min(v, std::ranges::min(users[v])) : v, v);
  };
  for (int v = 0; v < count; ++v) {
    if (missing[v] == 0) add(v);
  }
  int next = 0;
  for (; !ready.empty(); ++next) {
    const int v = ready.top().second;
    ready.pop();
    numbers[v] = next;
    for (const int user : users[v]) {
      if (--missing[user] == 0) add(user);
    }
  }
  if (next < count) {
    for (int v = 0; v < count; ++v) numbers[v] = v;
  }
  return numbers;
}

GraphView renumbered(GraphView view, const std::vector<int>& numbers) {
  for ([[maybe_unused]] const GraphEdge& edge : view.edges) XGRAD_ASSERT(numbers[edge.to] != nothing);
  std::vector<GraphVertex> vertices(numbers.size() - static_cast<std::size_t>(std::ranges::count(numbers, nothing)));
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    if (numbers[v] != nothing) vertices[numbers[v]] = std::move(view.vertices[v]);
  }
  for (GraphVertex& vertex : vertices) {
    if (vertex.rule_of != nothing) vertex.rule_of = numbers[vertex.rule_of];
  }
  view.vertices = std::move(vertices);
  std::erase_if(view.edges, [&](const GraphEdge& edge) { return numbers[edge.from] == nothing; });
  for (GraphEdge& edge : view.edges) {
    edge.from = numbers[edge.from];
    edge.to = numbers[edge.to];
  }
  std::ranges::stable_sort(view.edges, {},
                           [](const GraphEdge& edge) { return std::tuple(edge.to, edge.input, edge.from); });
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

// For each of `count` vertices the number of the cycle that it is on, more exactly of its strongly connected component,
// or `nothing` if it is on none (Tarjan 1972). Arrows from a vertex to itself do not count.
std::vector<int> cycles(int count, const std::vector<std::pair<int, int>>& arrows) {
  std::vector<std::vector<int>> users(static_cast<std::size_t>(count));
  for (const auto& [from, to] : arrows) {
    if (from != to) users[from].push_back(to);
  }
  struct Visit {
    int vertex;
    std::size_t next_user = 0;
  };
  std::vector<int> entered(users.size(), nothing), low(users.size()), component(users.size(), nothing);
  std::vector<bool> open(users.size());
  std::vector<int> waiting;  // entered, not yet in a component
  int time = 0, components = 0;
  for (int root = 0; root < count; ++root) {
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
      if (top.next_user < users[v].size()) {
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
        if (!alone) component[member] = components;
      } while (member != v);
      components += !alone;
    }
  }
  return component;
}

}  // namespace

GraphView merged(const GraphView& view, const std::vector<int>& becomes, Together together,
                 const std::vector<bool>& hidden) {
  XGRAD_ASSERT(becomes.size() == view.vertices.size() && (hidden.empty() || hidden.size() == view.edges.size()));
  GraphView result;
  std::vector<int> number(view.vertices.size(), nothing);
  std::vector<bool> used(view.frames.size());
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    if (std::cmp_not_equal(becomes[v], v)) continue;
    number[v] = static_cast<int>(result.vertices.size());
    result.vertices.push_back(view.vertices[v]);
    for (int c = view.vertices[v].frame; c != nothing && !used[c]; c = view.frames[c].parent) used[c] = true;
  }
  std::vector<int> frame_number(view.frames.size(), nothing);
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    if (!used[c]) continue;
    frame_number[c] = static_cast<int>(result.frames.size());
    GraphFrame& frame = result.frames.emplace_back(view.frames[c]);
    if (frame.parent != nothing) frame.parent = frame_number[frame.parent];
  }
  for (GraphVertex& vertex : result.vertices) {
    if (vertex.frame != nothing) vertex.frame = frame_number[vertex.frame];
    if (vertex.rule_of != nothing) vertex.rule_of = number[becomes[vertex.rule_of]];
  }
  std::vector<std::pair<GraphEdge, int>> edges;  // and the vertex at which each began
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    const GraphEdge& edge = view.edges[e];
    const int from = becomes[edge.from], to = becomes[edge.to];
    if ((!hidden.empty() && hidden[e]) || (from == to && edge.from != edge.to)) continue;
    GraphEdge& drawn = edges.emplace_back(edge, edge.from).first;
    drawn.from = number[from];
    drawn.to = number[to];
    if (result.vertices[drawn.to].role == GraphRole::module) drawn.input = 0;
  }
  const auto key = [](const auto& edge) { return std::tuple(edge.first.to, edge.first.input, edge.first.from); };
  std::ranges::stable_sort(edges, {}, key);
  std::vector<std::pair<int, int>> last(result.vertices.size(), {nothing, nothing});  // by vertex: its last arrow
  for (const auto& [edge, began] : edges) {
    if (!result.edges.empty()) {
      const GraphEdge& before = result.edges.back();
      if (before.to == edge.to && before.input == edge.input && before.from == edge.from) continue;
    }
    auto& [to, origin] = last[edge.from];
    if (together == Together::equal && to == edge.to && origin != began) continue;
    to = edge.to;
    origin = began;
    result.edges.push_back(edge);
  }
  return result;
}

std::vector<int> cycles_once_merged(const GraphView& view, const std::vector<int>& becomes,
                                    const std::vector<bool>& hidden) {
  std::vector<std::pair<int, int>> arrows;
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    if (hidden.empty() || !hidden[e]) arrows.emplace_back(becomes[view.edges[e].from], becomes[view.edges[e].to]);
  }
  return cycles(static_cast<int>(view.vertices.size()), arrows);
}

}  // namespace xgrad::detail
