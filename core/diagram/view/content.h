// The content of a diagram before anything is folded.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// The view of everything that the results depend on, in frames. Errors name `caller`.
GraphView everything(const Tensors& results, const GraphOptions& options, std::string_view caller);

}  // namespace xgrad::detail
