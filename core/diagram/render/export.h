// Diagrams for other programs: JSON for those that one writes, Mermaid for pages that draw it themselves, and what
// Model Explorer reads.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad {

/// The view as JSON: {"vertices": [...], "edges": [...], "frames": [...]} with everything that a GraphView says, under
/// its names there; vertices have the ids "n0", "n1", ..., edges "e0", ..., frames "c0", ..., as in the SVG. What is
/// not known is left out. What is no UTF-8 in a name becomes U+FFFD; numbers that are not finite are the words "NaN",
/// "Infinity" and "-Infinity".
std::string to_json(const GraphView& view);

/// The diagram in the language of Mermaid (https://mermaid.js.org), which Markdown pages on GitHub draw. Names are
/// drawn as they are, whatever they contain.
std::string to_mermaid(const GraphView& view, const GraphOptions& options = {});

/// The view as Model Explorer (https://github.com/google-ai-edge/model-explorer) reads it, a collection of one graph:
/// vertices have the ids "n0", "n1", ...; modules are groups that fold and unfold there, shapes are metadata of
/// outputs, everything else that is said of a vertex is a pair of words. A graph that is to be unfolded there should be
/// made with a large depth and without roll_up.
std::string to_model_explorer(const GraphView& view, const std::string& title = {});

}  // namespace xgrad
