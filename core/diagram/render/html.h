// Diagrams as pages: one HTML file to move in, search, and play step by step.
#pragma once

#include <string>

#include "../view/view.h"

namespace xgrad {

/// The diagram as one HTML document that refers to nothing outside and works from disk. It shows pictures of to_svg:
/// the whole graph at each level of folding, as far as a level has at most 300 boxes, and the inside of each module. It
/// opens with the level options.depth. It holds the data of to_json: a click on a vertex opens its details, a slider
/// plays the steps of the run (GraphVertex::step and gradient_step). The page's title is options.title, or "The graph
/// of" its results. No name in the graph can run as a script. Throws ValueError for a depth below automatic_depth.
std::string to_html(const GraphView& view, const GraphOptions& options = {});

}  // namespace xgrad
