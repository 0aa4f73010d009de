// The order of a GraphView's vertices, its passes, and its cycles.
#include "order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

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
    const bool given = view.vertices[v].op == "mask" && !users[v].empty();
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

EdgeKind kind_of(const GraphView& view, const GraphEdge& edge) {
  const int from = view.vertices[edge.from].order, to = view.vertices[edge.to].order;
  return from != to ? EdgeKind::borrowed : to > 0 ? EdgeKind::gradient : EdgeKind::value;
}

bool runs_up_again(const GraphView& view) {
  int highest_order = 0;
  for (const GraphVertex& vertex : view.vertices) highest_order = std::max(highest_order, vertex.order);
  return highest_order == 1;
}

std::vector<int> cycles(int count, const std::vector<std::pair<int, int>>& arrows) {
  std::vector<std::vector<int>> users(static_cast<std::size_t>(count));
  for (const auto& [from, to] : arrows) {
    if (from != to) users[from].push_back(to);
  }
  struct Frame {
    int vertex;
    std::size_t next_user = 0;
  };
  std::vector<int> entered(users.size(), nothing), low(users.size()), component(users.size(), nothing);
  std::vector<bool> open(users.size());
  std::vector<int> waiting;  // entered, not yet in a component
  int time = 0, components = 0;
  for (int root = 0; root < count; ++root) {
    if (entered[root] != nothing) continue;
    std::vector<Frame> stack;
    const auto enter = [&](int v) {
      entered[v] = low[v] = time++;
      open[v] = true;
      waiting.push_back(v);
      stack.push_back({v});
    };
    enter(root);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const int v = frame.vertex;
      if (frame.next_user < users[v].size()) {
        const int user = users[v][frame.next_user++];
        if (entered[user] == nothing) {
          enter(user);
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

}  // namespace xgrad::detail
