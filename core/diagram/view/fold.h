// A view with less detail.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// Every module nested deeper than `depth` as one vertex, unless that would close a cycle. Also for a view made by
/// hand, whose frames may not know their levels.
GraphView folded_below(GraphView view, int depth);

}  // namespace xgrad::detail
