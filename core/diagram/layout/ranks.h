// The ranks of the vertices of a diagram: which stand at one height, and which below others.
#pragma once

#include <vector>

#include "../view/view.h"

namespace xgrad::detail {

/// The rank of each vertex, counted from 0 without gaps, such that arrows are short: results stand near their inputs and
/// parameters above their operations. A gradient rule stands at the height of its operation, and gradients at the height of
/// the values that they depend on. Sources of arrows into a frame stand above all of it, its parameters included.
std::vector<int> ranks_of(const GraphView& view);

}  // namespace xgrad::detail
