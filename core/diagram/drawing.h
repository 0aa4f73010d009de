// Diagrams in files: text as it is, pictures by Graphviz.
//
//     save_graph("step.svg", {loss}, {.title = "forward pass"});
#pragma once

#include <string>

#include "formats.h"

namespace xgrad {

/// Writes the diagram to a file, by its extension: .dot, .svg, .pdf, .png or .txt. Pictures are drawn by Graphviz: in
/// this process if the library was built with it, else by the program `dot`. Throws ValueError for another extension,
/// IoError if there is neither, or if the file cannot be written.
void save_graph(const std::string& path, const Tensors& results, const GraphOptions& options = {});

}  // namespace xgrad
