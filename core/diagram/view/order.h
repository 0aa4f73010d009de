// The order of the vertices of a GraphView, its passes and cycles, and views with fewer vertices.
#pragma once

#include <utility>
#include <vector>

#include "view.h"

namespace xgrad::detail {

/// No frame, no vertex.
inline constexpr int nothing = -1;

/// For each vertex its number when inputs come before results and the order is otherwise kept (Kahn 1962). For a view
/// with a cycle: the present numbers.
std::vector<int> topological_numbers(const GraphView& view);
/// The vertices with these numbers, without those whose number is `nothing`, which must have no inputs; edges by (to,
/// input).
GraphView renumbered(GraphView view, const std::vector<int>& numbers);

enum class EdgeKind {
  value,     ///< within the forward pass
  gradient,  ///< within a backward pass
  borrowed,  ///< from a pass to a later one that uses its values
};
EdgeKind kind_of(const GraphView& view, const GraphEdge& edge);
/// Whether there is one backward pass. It stands beside the forward pass and runs up the page again; with more than one
/// everything runs down.
bool runs_up_again(const GraphView& view);

/// For each of `count` vertices the cycle that it is on, more exactly its strongly connected component, or `nothing` if
/// it is on none (Tarjan 1972). Arrows from a vertex to itself do not count.
std::vector<int> cycles(int count, const std::vector<std::pair<int, int>>& arrows);

/// The relation between vertices that become one.
enum class Together {
  alike,  ///< it stands for each of them: arrows of several to one user are merged
  boxed,  ///< it contains them
};
/// The view of the vertices v with becomes[v] == v; the others are drawn as the vertex that they become. It omits edges
/// that are hidden (by edge; empty: none), new loops, repeated edges, and frames that are now empty.
GraphView merged(const GraphView& view, const std::vector<int>& becomes, Together together,
                 const std::vector<bool>& hidden = {});

/// By vertex: the cycle that it would lie on (order.h).
std::vector<int> cycles_once_merged(const GraphView& view, const std::vector<int>& becomes,
                                    const std::vector<bool>& hidden = {});

}  // namespace xgrad::detail
