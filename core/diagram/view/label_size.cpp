// How large letters are in pictures.
#include "label_size.h"

#include <algorithm>

namespace xgrad::detail {

Letters letters_of(LetterStyle style) {
  switch (style) {
    case LetterStyle::headline:
      return {13, FontWeight::bold};
    case LetterStyle::plain:
      return {13, FontWeight::regular};
    default:
      return {11, FontWeight::regular};
  }
}

double line_width(const LabelLine& line) {
  double width = 0;
  for (const LabelRun& run : line) {
    const auto [size, weight] = letters_of(run.style);
    width += text_width(printable(run.text), size, weight);
  }
  return width;
}

double line_height(const LabelLine& line) {
  double height = 0;
  for (const LabelRun& run : line) height = std::max(height, letters_of(run.style).size + 3);
  return height;
}

LabelSize size_of_vertex(const GraphVertex& vertex, const GraphOptions& options) {
  LabelSize size{0, 0};
  for (const LabelLine& line : label_of(vertex, options)) {
    size = {std::max(size.width, line_width(line)), size.height + line_height(line)};
  }
  if (vertex.number) return {size.width + 10, size.height + 4};
  if (vertex.role == GraphRole::input) return {1.2 * size.width + 16, 1.3 * size.height + 4};
  return {std::max(size.width + 18, 36.0), size.height + 9};
}

LabelSize size_of_title(const GraphFrame& frame) {
  const LabelLine line = title_of(frame);
  return {line_width(line) + 10, line_height(line) + 2};
}

LabelSize size_of_edge_label(const GraphEdge& edge) {
  const LabelLine line{{shape_text(edge.shape), LetterStyle::detail}};
  return {line_width(line) + 6, line_height(line)};
}

}  // namespace xgrad::detail
