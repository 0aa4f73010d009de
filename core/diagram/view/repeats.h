// Repeats: equal structures, drawn once.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// The view with neighbours of the same structure, at each level, drawn as the first of them with their number: modules
/// (blocks.0, blocks.1, ...) and calls of one module that follow each other. The inputs of equal neighbours, x0, x1,
/// ..., become one vertex, too. Neighbours that would close a cycle stay as they are.
GraphView rolled_up(GraphView view);

}  // namespace xgrad::detail
