// Making a GraphView small enough to be looked at: modules that are built alike as one, modules as boxes.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// How deep the frames are nested: 0 without any.
int deepest_level(const GraphView& view);
/// Of neighbours that are built alike (blocks.0, blocks.1, ...) at each level only the first.
GraphView rolled_up(GraphView view);
/// Every module below `depth` as one vertex.
GraphView folded(const GraphView& view, int depth);

}  // namespace xgrad::detail
