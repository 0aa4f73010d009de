// Diagrams in the language of Graphviz, whose programs lay out what is given to them.
#pragma once

#include <string>
#include <string_view>

#include "../view/view.h"

namespace xgrad {

/// The diagram in Graphviz's language. Names are drawn unchanged, whatever they contain.
std::string to_dot(const GraphView& view, const GraphOptions& options = {});

namespace detail {
/// The diagram in a format of Graphviz (svg, png, pdf), laid out by its program options.layout. Throws ValueError for
/// another program; IoError if the program is missing, fails, or takes more than a minute. Errors name `caller`.
std::string drawn_by_graphviz(const GraphView& view, const GraphOptions& options, std::string_view format,
                              std::string_view caller);
}  // namespace detail

}  // namespace xgrad
