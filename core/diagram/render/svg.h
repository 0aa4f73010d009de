// Diagrams as SVG figures.
#pragma once

#include <string>
#include <string_view>

#include "../view/view.h"

namespace xgrad {

/// The diagram as one SVG document that needs no other file. Groups have ids: n0, n1, ... for vertices, e0, ... for
/// edges, c0, ... for frames, t0, ... for titles of frames. The class of a group is the kind of the vertex, edge or
/// frame. The figure is dark for readers in dark mode. All positions are those of GraphLayout::of(view, options).
std::string to_svg(const GraphView& view, const GraphOptions& options = {});

namespace detail {

/// The diagram as an `<svg>` element for an HTML page, without the styles and the title, which the page contains.
std::string svg_element(const GraphView& view, GraphOptions options);
/// The style sheet of such figures: light colours for the class "graph-light", dark colours for "graph-dark".
std::string svg_style();

/// Text for the content of an XML element or attribute: printable (base/text.h) and escaped.
std::string xml_escaped(std::string_view text);

}  // namespace detail
}  // namespace xgrad
