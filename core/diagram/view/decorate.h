// Applying the GraphOptions for single vertices to a view: numbers, colours.
#pragma once

#include <optional>
#include <string_view>

#include "view.h"

namespace xgrad::detail {

/// Throws ValueError unless the overlay has a title and one function, not both.
void check_overlay(const GraphOverlay& overlay, std::string_view caller);
/// Adds to the number of a vertex, unless there is none to add. Throws ValueError if it is not finite.
void add_number(GraphVertex& vertex, std::optional<double> number, const GraphOverlay& overlay,
                std::string_view caller);

/// Includes the number of a vertex in a scale, and writes it into its box.
void add_to_scale(GraphScale& scale, GraphVertex& vertex);

/// Adds the overlay's lines and scale, and the style that GraphOptions::style chooses for the vertices as they are now.
/// Throws ValueError for an unknown colour.
void decorate(GraphView& view, const GraphOptions& options, std::string_view caller);

}  // namespace xgrad::detail
