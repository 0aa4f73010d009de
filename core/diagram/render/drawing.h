// Diagrams in files.
//
//     save_graph("step.svg", {loss}, {.title = "forward pass"});
#pragma once

#include <string>

#include "dot.h"
#include "export.h"

namespace xgrad {

/// Writes the diagram to a file, by its extension: .dot, .json, .txt, or a picture: .svg, .pdf, .png, .html, a page in
/// which modules can be opened beyond .depth. The library lays out pictures, unless .layout names a program of Graphviz;
/// .pdf and .png are converted from the .svg by `rsvg-convert`, within a minute. Throws ValueError for another extension,
/// IoError if a program is missing or fails, or if the file cannot be written.
void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options = {});
/// The same for a view, as one that was folded by hand. Only the options for the drawing count, not those
/// for its content.
void save_view(const std::string& path, const GraphView& view, const GraphOptions& options = {});

}  // namespace xgrad
