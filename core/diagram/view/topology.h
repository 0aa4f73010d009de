// The vertices of a GraphView in order: which come first, on which pass and cycle they are, and which become one.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// Stands for no frame, and for no vertex.
inline constexpr int nothing = -1;
/// What a list by frame has for this frame; `nothing` for none.
inline int entry_of(const Indexed<int>& by_frame, int frame) { return frame == nothing ? nothing : by_frame[frame]; }

/// For each vertex its index when inputs come before results and the order is otherwise kept (Kahn 1962); `nothing` on
/// and behind a cycle.
Indexed<int> topological_indices(const GraphView& view);
/// Throws GraphError, which begins with `caller`, for indices that lead nowhere and for cycles, which only a view that
/// was changed by hand has.
void check_view(const GraphView& view, std::string_view caller);
/// The view with new indices for its vertices. A vertex with the index `nothing` is left out; it must have no inputs.
/// Edges are ordered by (to, input).
GraphView reindexed(GraphView view, const Indexed<int>& indices);

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
GraphView merged(const GraphView& view, const Indexed<int>& becomes, Together together,
                 const Indexed<bool>& hidden = {});
/// For each vertex whether it would be on a cycle in the merged view.
Indexed<bool> on_cycles_once_merged(const GraphView& view, const Indexed<int>& becomes,
                                    const Indexed<bool>& hidden = {});

}  // namespace xgrad::detail
