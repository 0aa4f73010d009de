// The colours of diagrams.
#pragma once

#include <array>
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
  const char* minus;          ///< cells of negative numbers, likewise
  std::array<Paint, 7> heat;  ///< shades from the first value of a scale to the last; without lines
};

enum class Theme { light, dark };
const Palette& palette_of(Theme theme);

/// The look of vertices of one kind.
struct Look {
  std::string_view name;       ///< in classes of SVG
  std::string_view in_legend;  ///< their name in the legend
  Paint Palette::*paint;
  GraphRole role = GraphRole::operation;  ///< that has their outline
  int order = 0;                          ///< the number of their marks
};
/// The looks of all vertices.
extern const std::array<Look, 9> looks;
const Look& look_of(const GraphVertex& vertex);

/// The index in Palette::heat for a value of a scale.
int heat_of(const GraphScale& scale, double value);

/// The looks of what the view contains, for its legend.
std::vector<Look> legend_of(const GraphView& view);

}  // namespace xgrad::detail
