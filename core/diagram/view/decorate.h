// Applying an overlay to a view.
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

}  // namespace xgrad::detail
