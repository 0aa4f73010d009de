// Arrows between frames that stand side by side, which dot would lead around them.
#pragma once

#include "layout.h"

namespace xgrad::detail {

/// Leads them through the space between both frames, as a line with round corners, where nothing is in its way.
void route_between_frames(const GraphView& view, Direction direction, GraphLayout& layout);

}  // namespace xgrad::detail
