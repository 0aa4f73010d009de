// A view in Graphviz's DOT language.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad::detail {

enum class DotFor {
  layout,   ///< sizes, arrows and frames, where vertices come back with their numbers; no text from outside
  readers,  ///< the text of boxes, colours, title and legend, too; Graphviz decides all sizes
};

std::string in_dot(const GraphView& view, const GraphOptions& options, DotFor reader);

}  // namespace xgrad::detail
