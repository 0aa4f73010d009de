// Diagrams as text: Graphviz's language, and a table. They only print a GraphView.
#pragma once

#include <string>
#include <string_view>

#include "../view/view.h"

namespace xgrad {

/// The diagram in Graphviz's language. Names are drawn unchanged, whatever they contain.
std::string to_dot(const GraphView& view, const GraphOptions& options = {});
/// A line for each vertex: number, operation, name, shape, inputs, remarks.
std::string to_text(const GraphView& view);

}  // namespace xgrad
