// How large letters are in pictures, and what is written in them.
#pragma once

#include "characters.h"
#include "labels.h"
#include "number_picture.h"

namespace xgrad::detail {

struct Letters {
  double size;  ///< in pixels
  FontWeight weight;
};
Letters letters_of(const LabelRun& run);
/// How large indices and exponents are beside the letters that they belong to, and how far below or above their line.
inline constexpr double script_share = 0.75, script_shift = 0.28;

struct LabelSize {
  double width;
  double height;
};

/// The sides of A4, on which letters of 12 pixels are 6.5 points high.
inline constexpr double shorter_side = 1000, longer_side = 1450;

/// Lines stand below each other, each centred.
double line_width(const LabelLine& line);
double line_height(const LabelLine& line);

/// With the room around the letters.
LabelSize size_of_vertex(const GraphVertex& vertex, const GraphOptions& options);
LabelSize size_of_title(const GraphFrame& frame);
LabelSize size_of_edge_label(const GraphEdge& edge);

}  // namespace xgrad::detail
