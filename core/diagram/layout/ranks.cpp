// The ranks of the vertices of a diagram.
#include <algorithm>

#include "../view/topology.h"
#include "steps.h"

namespace xgrad::detail {

Indexed<int> ranks_of(const GraphView& view) {
  const auto count = view.vertices.count();
  const bool two_passes = runs_up_again(view);
  Indexed<bool> uses_own_leaf(view.vertices.count());  // whether a leaf of its frame leads to it
  for (const GraphEdge& edge : view.edges) {
    const GraphVertex &from = view.vertices[edge.from], &to = view.vertices[edge.to];
    if (is_leaf(from) && to.frame != nothing && from.frame == to.frame) uses_own_leaf[edge.to] = true;
  }

  // Each arrow outweighs the pull to the top, which only joins parts of the graph that have no arrow in common.
  const std::int64_t light = count + 1, heavy = 4 * light, tied = 20 * light, pull = 1;
  Indexed<Distance> distances;
  Indexed<bool> is_first(view.vertices.count(), true);
  const auto add = [&](int above, int below, int length, std::int64_t weight) {
    distances.push_back({above, below, length, weight});
    is_first[below] = false;
  };
  for (const GraphEdge& edge : view.edges) {
    const GraphVertex &from = view.vertices[edge.from], &to = view.vertices[edge.to];
    switch (kind_of(view, edge)) {
      case EdgeKind::gradient:
        if (two_passes) {
          add(edge.to, edge.from, 1, light);
        } else {
          add(edge.from, edge.to, 1, light);
        }
        break;
      case EdgeKind::borrowed:
        if (!two_passes) add(edge.from, edge.to, 1, heavy);
        if (two_passes && to.rule_of == nothing) add(edge.from, edge.to, 0, heavy);
        break;
      case EdgeKind::value: {
        const bool enters = !is_leaf(from) && uses_own_leaf[edge.to] && from.frame != to.frame;
        add(edge.from, edge.to, enters ? 2 : 1, is_leaf(from) ? light : heavy);
        break;
      }
    }
  }
  for (int v = 0; two_passes && v < count; ++v) {
    if (view.vertices[v].rule_of != nothing) add(view.vertices[v].rule_of, v, 0, tied);
  }
  for (int v = 0; v < count; ++v) {
    if (is_first[v]) distances.push_back({count, v, 0, pull});
  }
  Indexed<std::int64_t> heights = as_near_as_possible(count + 1, count, distances);
  heights.pop_back();

  Indexed<std::int64_t> used = heights;
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  Indexed<int> ranks;
  for (const std::int64_t height : heights) {
    ranks.push_back(static_cast<int>(std::ranges::lower_bound(used, height) - used.begin()));
  }
  return ranks;
}

}  // namespace xgrad::detail
