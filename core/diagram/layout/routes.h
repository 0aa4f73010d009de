// Arrows between frames that stand side by side, which dot would lead around them.
#pragma once

#include <span>

#include "../view/view.h"
#include "geometry.h"

namespace xgrad::detail {

/// Leads them through the space between both frames, as a line with round corners, where nothing is in its way.
void route_between_frames(const GraphView& view, Direction direction, std::span<const GraphBox> vertices,
                          std::span<const GraphBox> frames, std::span<GraphCurve> edges);

}  // namespace xgrad::detail
