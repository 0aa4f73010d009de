// Diagrams for other programs: JSON for your own, Mermaid for pages that draw it themselves, and the format of Model
// Explorer.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad {

/// The view as JSON: {"vertices": [...], "edges": [...], "frames": [...]} with all fields of a GraphView, under their
/// names; vertices have the ids "n0", "n1", ..., edges "e0", ..., frames "c0", ..., as in the SVG. Unknown values are
/// left out. Invalid UTF-8 in a name becomes U+FFFD; numbers that are not finite are the words "NaN", "Infinity" and
/// "-Infinity".
std::string to_json(const GraphView& view);

/// The diagram in the language of Mermaid (https://mermaid.js.org), which Markdown pages on GitHub draw. Names are
/// drawn unchanged, whatever they contain.
std::string to_mermaid(const GraphView& view, const GraphOptions& options = {});

/// The view in the format of Model Explorer (https://github.com/google-ai-edge/model-explorer), a collection of one
/// graph: vertices have the ids "n0", "n1", ...; modules are groups that fold and unfold there, shapes are metadata of
/// outputs, all other properties of a vertex are pairs of words. A graph that is to be unfolded there should be made
/// with a large depth and without roll_up.
std::string to_model_explorer(const GraphView& view, const std::string& title = {});

}  // namespace xgrad
