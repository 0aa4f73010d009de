// Diagrams as pages: one HTML file to move in, search, fold, and play step by step.
#pragma once

#include <string>

#include "../layout/layout.h"

namespace xgrad {

/// The diagram as one HTML document that refers to nothing outside and works from disk. It shows the picture of to_svg,
/// and the data of to_json: a click on a vertex opens its details, a slider plays the steps of the run
/// (GraphVertex::step and gradient_step). Frames can be folded; at first those below options.depth are. Each level of
/// folding has a layout of its own. The page's title is options.title, or "The graph of" its results. No name in the
/// graph can run as a script. Throws ValueError for the layout of another view, or for a depth below automatic_depth.
std::string to_html(const GraphView& view, const GraphLayout& layout, const GraphOptions& options = {});

/// The same, laid out by GraphLayout::of.
std::string to_html(const GraphView& view, const GraphOptions& options = {});

}  // namespace xgrad
