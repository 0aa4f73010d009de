// Diagrams for other programs: JSON for those that one writes, Mermaid for pages that draw it themselves.
#pragma once

#include <string>

#include "view.h"

namespace xgrad {

/// The view as JSON: {"vertices": [...], "edges": [...], "frames": [...]} with everything that a GraphView says, under
/// its names there; vertices have the ids "n0", "n1", ..., edges "e0", ..., frames "c0", ..., as in the SVG. What is not
/// known is left out. What is no UTF-8 in a name becomes U+FFFD; numbers that are not finite are the words "NaN",
/// "Infinity" and "-Infinity".
std::string to_json(const GraphView& view);

/// The diagram in the language of Mermaid (https://mermaid.js.org), which Markdown pages on GitHub draw. Names are
/// drawn as they are, whatever they contain.
std::string to_mermaid(const GraphView& view, const GraphOptions& options = {});

}  // namespace xgrad
