// A view with fewer vertices.
#include "merge.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "order.h"

namespace xgrad::detail {

std::vector<int> cycles_once_merged(const GraphView& view, const std::vector<int>& becomes,
                                    const std::vector<bool>& hidden) {
  std::vector<std::pair<int, int>> arrows;
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    if (hidden.empty() || !hidden[e]) arrows.emplace_back(becomes[view.edges[e].from], becomes[view.edges[e].to]);
  }
  return cycles(static_cast<int>(view.vertices.size()), arrows);
}

GraphView merged(const GraphView& view, const std::vector<int>& becomes, Together together,
                 const std::vector<bool>& hidden) {
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
    if (together == Together::alike && to == edge.to && origin != began) continue;
    to = edge.to;
    origin = began;
    result.edges.push_back(edge);
  }
  return result;
}

}  // namespace xgrad::detail
