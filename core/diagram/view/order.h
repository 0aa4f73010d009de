// The vertices of a GraphView in order: which come first, on which pass and cycle they are, and which become one.
#pragma once

#include <utility>
#include <vector>

#include "view.h"

namespace xgrad::detail {

/// Stands for no frame, and for no vertex.
inline constexpr int nothing = -1;

/// For each vertex its number when inputs come before results and the order is otherwise kept (Kahn 1962). For a view
/// with a cycle: the present numbers.
std::vector<int> topological_numbers(const GraphView& view);
/// The view with new numbers for its vertices. A vertex with the number `nothing` is left out; it must have no inputs.
/// Edges are ordered by (to, input).
GraphView renumbered(GraphView view, const std::vector<int>& numbers);

/// The operation whose gradient rule a box is, "tanh" for "tanh'"; empty for any other vertex.
std::string_view rule_in(const GraphVertex& vertex);

/// The pass that an edge belongs to.
enum class EdgeKind {
  value,     ///< the forward pass
  gradient,  ///< a backward pass
  borrowed,  ///< none: it leads from a pass to a later one that uses its values
};
EdgeKind kind_of(const GraphView& view, const GraphEdge& edge);
/// Whether there is exactly one backward pass. It is drawn next to the forward pass and runs up the page again. With
/// more backward passes everything runs down.
bool runs_up_again(const GraphView& view);

/// The relation between vertices that become one.
enum class Together {
  equal,  ///< the one stands for each of them: arrows of several to one user are merged
  boxed,  ///< the one contains them
};
/// The view of the vertices v with becomes[v] == v; each other vertex is drawn as the vertex that it becomes. The view
/// omits the edges marked in `hidden` (by edge; empty: none), new loops, repeated edges, and frames without a vertex.
GraphView merged(const GraphView& view, const std::vector<int>& becomes, Together together,
                 const std::vector<bool>& hidden = {});
/// For each vertex the number of the cycle that it would be on in the merged view, or `nothing` if on none.
std::vector<int> cycles_once_merged(const GraphView& view, const std::vector<int>& becomes,
                                    const std::vector<bool>& hidden = {});

}  // namespace xgrad::detail
