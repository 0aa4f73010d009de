// Diagrams in files: text as it is, pictures laid out by Graphviz.
//
//     save_graph("step.svg", {loss}, {.title = "forward pass"});
#pragma once

#include <string>

#include "formats.h"

namespace xgrad {

/// Writes the diagram to a file, by its extension: .dot, .mmd, .json, .model-explorer.json, .txt, or a picture: .svg,
/// .pdf, .png, .html, a page in which modules can be unfolded beyond .depth. Pictures are laid out by the program `dot`
/// of Graphviz, under DrawingLimits; .pdf and .png are made from the .svg by `rsvg-convert`. Throws ValueError for
/// another extension, IoError if a program is not there or cannot do it, or if the file cannot be written. Where there
/// is no layout, the graph is in a .dot file before that, which the error names.
void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options = {});
/// The same for a view: one that was folded by hand, or a comparison. Of the options those count that say how it is
/// drawn, not what.
void save_view(const std::string& path, const GraphView& view, const GraphOptions& options = {});
/// Throws ValueError unless the path has one of these extensions.
void check_extension(const std::string& path);

}  // namespace xgrad
