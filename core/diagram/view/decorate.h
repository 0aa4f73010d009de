// Applying the GraphOptions for single vertices to a view: numbers, paths, colours.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "view.h"

namespace xgrad::detail {

/// Throws ValueError unless the overlay has a title and one function, not both.
void check_overlay(const GraphOverlay& overlay, std::string_view caller);
/// Adds to the number of a vertex, unless there is none to add. Throws ValueError if it is not finite.
void add_number(GraphVertex& vertex, std::optional<double> number, const GraphOverlay& overlay,
                std::string_view caller);

/// Dims everything outside the paths from a vertex of `from` to one of `to`; if there is no path, all but these
/// vertices. An empty list stands for all vertices. For a view whose vertices are numbered inputs before results.
void mark_paths(GraphView& view, const std::vector<int>& from, const std::vector<int>& to);
/// The vertices with that name, with or without the path of their module, and those in the module with that path.
std::vector<int> vertices_called(const GraphView& view, std::string_view name);
/// "paths from x to loss".
std::string path_remark(const GraphView& view, const GraphOptions& options);

/// Adds the overlay's lines and scale, and the style that GraphOptions::style chooses for the vertices as they are now.
/// Throws ValueError for an unknown colour.
void decorate(GraphView& view, const GraphOptions& options, std::string_view caller);

}  // namespace xgrad::detail
