// Diagrams as text: for Graphviz, as JSON for other programs, and as a table.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad {

/// The view as JSON: {"vertices": [...], "edges": [...], "frames": [...]} with all fields of a GraphView under their
/// names ("deviation" is NumbersSummary::stddev). Vertices have the ids "n0", "n1", ..., edges "e0", ..., frames "c0",
/// ..., as in the SVG. Unknown values are left out. Invalid UTF-8 in a name becomes U+FFFD. Numbers that are not finite
/// are the words "NaN", "Infinity" and "-Infinity".
std::string to_json(const GraphView& view);

/// The diagram in the language of Graphviz, whose programs lay it out, with labels of plain text. Names are drawn
/// unchanged, whatever they contain.
std::string to_dot(const GraphView& view, const GraphOptions& options = {});

/// The view as a table with a line for each vertex: number, operation, name, shape, inputs, remarks.
std::string to_text(const GraphView& view);

namespace detail {
/// The same JSON on one line, in ASCII.
std::string compact_json(const GraphView& view);
}  // namespace detail

}  // namespace xgrad
