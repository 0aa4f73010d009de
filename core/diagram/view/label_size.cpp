// The sizes of labels in pictures.
#include "label_size.h"

#include <algorithm>
#include <cmath>

namespace xgrad::detail {

Letters letters_of(const LabelRun& run) {
  const bool large = run.style == LetterStyle::headline || run.style == LetterStyle::plain;
  return {(large ? 13 : 11) * (run.script == Script::none ? 1 : script_share),
          run.style == LetterStyle::headline ? FontWeight::bold : FontWeight::regular};
}

double line_width(const LabelLine& line) {
  double width = 0;
  for (const LabelRun& run : line) {
    const auto [size, weight] = letters_of(run);
    width += run.numbers ? picture_of(*run.numbers).width() : text_width(printable(run.text), size, weight);
  }
  return width;
}

double line_height(const LabelLine& line) {
  double height = 0;
  for (const LabelRun& run : line) {
    height = std::max(height, run.numbers ? picture_of(*run.numbers).height() + 5 : letters_of(run).size + 3);
  }
  return height;
}

LabelSize size_of_vertex(const GraphVertex& vertex, const GraphOptions& options) {
  LabelSize size{0, 0};
  bool has_cells = false;  // they fill their corners, unlike letters
  for (const LabelLine& line : label_of(vertex, options)) {
    size = {std::max(size.width, line_width(line)), size.height + line_height(line)};
    has_cells |= line[0].numbers && picture_of(*line[0].numbers).kind == NumberPicture::cells;
  }
  if (vertex.number) return {size.width + 10, size.height + 4};
  if (vertex.role == GraphRole::input) {
    if (has_cells) return {1.42 * size.width + 8, 1.42 * size.height + 4};
    LabelSize ellipse{1.2 * size.width + 16, 1.3 * size.height + 4};
    double top = -size.height / 2;
    for (const LabelLine& line : label_of(vertex, options)) {  // each line of letters ends inside
      const double bottom = top + line_height(line), y = std::max(-top, bottom) - 2;
      const double share = 1 - std::pow(2 * y / ellipse.height, 2);
      if (!line[0].numbers) ellipse.width = std::max(ellipse.width, (line_width(line) + 6) / std::sqrt(share));
      top = bottom;
    }
    return ellipse;
  }
  return {std::max(size.width + 18, 36.0), size.height + 9};
}

LabelSize size_of_title(const GraphFrame& frame) {
  const LabelLine line = title_of(frame);
  return {line_width(line) + 10, line_height(line) + 2};
}

}  // namespace xgrad::detail
