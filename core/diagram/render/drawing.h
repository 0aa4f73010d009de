// Diagrams in files: text as it is, pictures laid out by Graphviz.
//
//     save_graph("step.svg", {loss}, {.title = "forward pass"});
#pragma once

#include <string>

#include "formats.h"

namespace xgrad {

/// Writes the diagram to a file, by its extension: .dot, .json, .txt, or a picture: .svg, .pdf, .png, .html, a page in
/// which modules can be unfolded beyond .depth. Pictures are laid out by the program `dot` of Graphviz, under
/// DrawingLimits; .pdf and .png are converted from the .svg by `rsvg-convert`. Throws ValueError for another extension,
/// IoError if a program is missing or fails, or if the file cannot be written. If there is no layout, the graph is
/// first saved in a .dot file, which the error names.
void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options = {});
/// The same for a view, as one that was folded by hand. Only the options for the drawing count, not those
/// for its content.
void save_view(const std::string& path, const GraphView& view, const GraphOptions& options = {});

}  // namespace xgrad
