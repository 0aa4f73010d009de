// A view in the language of Graphviz.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad::detail {

enum class DotFor {
  layout,   ///< sizes, arrows and frames, of which vertices come back with their numbers; no text from outside
  readers,  ///< what is written in boxes, colours, title and legend, too; Graphviz decides how large all is
};

std::string in_dot(const GraphView& view, const GraphOptions& options, DotFor reader);

}  // namespace xgrad::detail
