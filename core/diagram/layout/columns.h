// Long chains in columns.
#pragma once

#include "../view/view.h"
#include "layout.h"

namespace xgrad::detail {

/// The same, but that a chain which is longer than a page is cut, at places that one arrow alone passes, into columns
/// beside each other (rows, if the diagram runs to the side). That arrow leads around the foot of its column to the
/// head of the next. A view with frames or with a backward pass stays as it is, and so does what has no such place for
/// longer than a page.
GraphLayout in_columns(GraphLayout layout, const GraphView& view, const GraphOptions& options);

}  // namespace xgrad::detail
