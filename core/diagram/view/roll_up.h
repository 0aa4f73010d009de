// What is built alike, drawn once.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// Neighbours that are built alike, at each level, as the first of them, with their number: modules (blocks.0,
/// blocks.1, ...), calls of one module that follow each other, groups of these and of operations between them, and
/// operations in a row. What each of them has of its own from outside, x0, x1, ..., is one vertex, too. What would
/// close a cycle stays as it is.
GraphView rolled_up(GraphView view);

}  // namespace xgrad::detail
