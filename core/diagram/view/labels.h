// Labels in diagrams: at vertices and frames, and tooltips.
#pragma once

#include "typeset.h"
#include "view.h"

namespace xgrad::detail {

std::string_view role_name(GraphRole role);
/// "headline": its class in pictures and pages.
std::string_view style_name(LetterStyle style);
/// "TB": its name in Graphviz.
std::string_view direction_name(Direction direction);
/// With the path of the module in front.
std::string full_name(const GraphVertex& vertex);
/// For a sentence: "linear 'blocks.0.fc1'", "parameter 'w'".
std::string called(const GraphVertex& vertex);
std::string shape_text(const Shape& shape);
/// The headline of a vertex, in large letters, before it is typeset.
std::string headline_of(const GraphVertex& vertex);
/// "1,536", "0.25 ms"; with the unit "B": "1.5 KiB".
std::string amount_text(double amount, std::string_view unit);

/// The headline, then smaller lines.
std::vector<LabelLine> label_of(const GraphVertex& vertex, const GraphOptions& options);
/// The title of a frame, above its vertices.
LabelLine title_of(const GraphFrame& frame);
/// The words before and after the colours of a scale.
struct ScaleWords {
  std::string before;
  std::string behind;
};
ScaleWords words_of_scale(const GraphView& view);
/// The tooltip of a vertex, above the equations.
std::string tooltip_of(const GraphVertex& vertex);

}  // namespace xgrad::detail
