// Diagrams as text: for Graphviz, as JSON for other programs, and as a table.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad {

/// The view as JSON: {"vertices": [...], "edges": [...], "frames": [...]} with all fields of a GraphView under their
/// own names, except that "deviation" is NumbersSummary::stddev. Vertices have the ids "n0", "n1", ..., edges "e0",
/// ..., frames "c0", ..., as in the SVG. Unknown values are left out. Invalid UTF-8 in a name becomes U+FFFD. Numbers
/// that are not finite are written as the words "NaN", "Infinity" and "-Infinity".
std::string to_json(const GraphView& view);

/// The diagram in the DOT language of Graphviz, which computes the layout. Labels are plain text. Names are drawn
/// unchanged, whatever characters they contain.
std::string to_dot(const GraphView& view, const GraphOptions& options = {});

/// The view as a table with one line for each vertex: its number, operation, name, shape, inputs and remarks.
std::string to_text(const GraphView& view);

namespace detail {
/// The JSON of to_json() on one line, in ASCII.
std::string compact_json(const GraphView& view);
}  // namespace detail

}  // namespace xgrad
