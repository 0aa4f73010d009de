// Converting the graph to a GraphView that leaves nothing out.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// Everything that the results depend on, in frames, none of it folded.
GraphView everything(const Tensors& results, const GraphOptions& options, std::string_view caller);

}  // namespace xgrad::detail
