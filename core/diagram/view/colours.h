// The colours of diagrams.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "view.h"

namespace xgrad::detail {

struct Paint {
  const char* fill;
  const char* line;
  const char* text;
};

struct Palette {
  const char* background;
  const char* text;
  const char* faint;  ///< details, edges
  const char* frame;
  const char* frame_line;
  Paint input, parameter, constant, operation, gradient, higher_gradient, result, module;
  const char* edge;
  const char* gradient_edge;
  const char* borrowed_edge;  ///< from a pass to a later one that uses its values
  Paint error;                ///< where the first NaN appeared
  const char* plus;           ///< cells of positive numbers, the larger the stronger
  const char* minus;          ///< of negative ones
  std::array<Paint, 7> heat;  ///< from the first number of a scale to the last; without lines
};

enum class Theme { light, dark };
const Palette& palette_of(Theme theme);

/// The colours of a vertex in a palette, by its role.
using PaintOf = Paint Palette::*;
PaintOf paint_of(const GraphVertex& vertex);

/// The step of Palette::heat for a number.
int heat_of(const GraphScale& scale, double number);

/// The colours of a vertex, those of its role. With a scale the fill shows its number.
struct VertexColours {
  std::string fill;
  std::string line;
  std::string text;
  std::string detail;  ///< smaller lines
};
VertexColours colours_of(const GraphView& view, const GraphVertex& vertex);

/// An entry of the legend.
struct LegendEntry {
  std::string_view text;
  PaintOf paint;
};
/// The entries for the contents of the view.
std::vector<LegendEntry> legend_of(const GraphView& view);

}  // namespace xgrad::detail
