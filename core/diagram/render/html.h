// Diagrams as interactive pages: one HTML file to move in, search, and play step by step.
#pragma once

#include <string>
#include <string_view>

#include "../view/view.h"

namespace xgrad {

/// The diagram as one HTML document that needs no other file and no network. It contains figures of to_svg: the graph
/// at each level of folding with at most 300 boxes, and the inside of each module. It opens at the level options.depth.
/// A click on a vertex opens its details, the data of to_json. A slider plays the steps of the run (GraphRecord::step
/// and gradient_step). The title is options.title, or "The graph of" and the results. No name in the graph can run as a
/// script. Throws ValueError for a depth below automatic_depth.
std::string to_html(const GraphView& view, const GraphOptions& options = {});

namespace detail {
/// The text of a file of core/diagram/page, such as "page.css", from the library. Empty for an unknown name.
std::string_view page_file(std::string_view name);
}  // namespace detail

}  // namespace xgrad
