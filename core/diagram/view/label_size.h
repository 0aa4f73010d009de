// The sizes of labels in pictures.
#pragma once

#include "characters.h"
#include "labels.h"
#include "number_picture.h"

namespace xgrad::detail {

/// The letters of pictures, as CSS and Graphviz name them.
inline constexpr std::string_view font_family = "Helvetica,Arial,sans-serif";

struct Letters {
  double size;  ///< in pixels
  FontWeight weight;
};
Letters letters_of(const LabelRun& run);
/// The size of indices and exponents relative to their letters, and their shift below or above the line.
inline constexpr double script_share = 0.75, script_shift = 0.28;

struct LabelSize {
  double width;
  double height;
};

/// The sides of A4, on which letters of 12 pixels are 6.5 points high.
inline constexpr double shorter_side = 1000, longer_side = 1450;

/// The width of a line of a label; lines are centred below each other.
double line_width(const LabelLine& line);
double line_height(const LabelLine& line);

/// Includes the room around the letters.
LabelSize size_of_vertex(const GraphVertex& vertex, const GraphOptions& options);
LabelSize size_of_title(const GraphFrame& frame);

}  // namespace xgrad::detail
