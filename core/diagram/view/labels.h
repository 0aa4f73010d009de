// What is written in diagrams: at vertices and frames, and under the pointer.
#pragma once

#include "typeset.h"
#include "view.h"

namespace xgrad::detail {

std::string_view role_name(GraphRole role);
/// "headline": its class in pictures and pages.
std::string_view style_name(LetterStyle style);
/// "light": its class in pictures and pages.
std::string_view theme_name(Theme theme);
/// "TB": what Graphviz and Mermaid call it.
std::string_view direction_name(Direction direction);
/// With the path of the module in front.
std::string full_name(const GraphVertex& vertex);
/// For a sentence: "linear 'blocks.0.fc1'", "parameter 'w'".
std::string called(const GraphVertex& vertex);
std::string shape_text(const Shape& shape);
/// What the vertex is called, in large letters, before it is typeset.
std::string headline_of(const GraphVertex& vertex);
/// "1,536", "0.25 ms"; with the unit "B": "1.5 KiB".
std::string amount_text(double amount, std::string_view unit);

/// What the vertex is called, then smaller lines.
std::vector<LabelLine> label_of(const GraphVertex& vertex, const GraphOptions& options);
/// What stands above the vertices of a frame.
LabelLine title_of(const GraphFrame& frame);
/// What stands before and behind the colours of a scale.
struct ScaleWords {
  std::string before;
  std::string behind;
};
ScaleWords words_of_scale(const GraphView& view);
/// What is shown under the pointer, above the equations.
std::string tooltip_of(const GraphVertex& vertex);

}  // namespace xgrad::detail
