// Saving diagrams to files.
//
//     save_graph("step.svg", {loss}, {.title = "forward pass"});
#pragma once

#include <string>

#include "export.h"

namespace xgrad {

/// Writes the diagram of the results to a file. The extension decides the format:
///
///     .svg .pdf .png    a picture; .pdf and .png are converted from the .svg by `rsvg-convert`, within a minute
///     .html             an interactive page, in which modules can be opened beyond .depth
///     .dot .json .txt   text
///
/// Throws ValueError for another extension; IoError if rsvg-convert is missing or fails, or if the file cannot be
/// written; and what GraphView::of throws.
void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options = {});
/// Writes the diagram of a view, for example after you have changed the view. Options that choose the content of a view
/// have no effect here. Throws as save_graph.
void save_view(const std::string& path, const GraphView& view, const GraphOptions& options = {});

}  // namespace xgrad
