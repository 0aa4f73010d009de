// A view with fewer vertices.
#pragma once

#include <vector>

#include "view.h"

namespace xgrad::detail {

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
