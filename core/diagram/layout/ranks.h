// The ranks of the vertices of a diagram: which are at one height, and which below others.
#pragma once

#include "../view/view.h"

namespace xgrad::detail {

/// The rank of each vertex, counted from 0 without gaps, such that arrows are short. A gradient rule has the rank of
/// its operation, and a gradient the rank of the values that it depends on. The source of an arrow into a frame is
/// above everything in the frame.
Indexed<int> ranks_of(const GraphView& view);

}  // namespace xgrad::detail
