// Diagrams as pictures: SVG, at the positions of a GraphLayout.
#pragma once

#include <string>

#include "../layout/layout.h"

namespace xgrad {

/// The diagram as one SVG document that refers to nothing outside. Vertices are groups with the ids n0, n1, ..., edges
/// e0, ..., frames c0, ..., titles of frames t0, ...; their classes give their kind. With Theme::light the picture is
/// dark if the reader's screen is. Throws ValueError for the layout of another view.
std::string to_svg(const GraphView& view, const GraphLayout& layout, const GraphOptions& options = {});

namespace detail {

/// The picture as an element of a page, which has the styles and the title.
std::string svg_element(const GraphView& view, const GraphLayout& layout, GraphOptions options);
/// The colours and letters of such pictures, for those with the class "graph-light" or "graph-dark".
std::string svg_style(Theme theme);

}  // namespace detail
}  // namespace xgrad
