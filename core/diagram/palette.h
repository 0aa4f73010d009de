// The colours of diagrams.
#pragma once

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
};

const Palette& palette_of(Theme theme);

/// What a vertex is painted as.
using PaintOf = Paint Palette::*;
PaintOf paint_of(const GraphVertex& vertex);

/// An entry of the legend.
struct LegendEntry {
  std::string_view text;
  PaintOf paint;
};
/// The entries for what the view holds.
std::vector<LegendEntry> legend_of(const GraphView& view);

}  // namespace xgrad::detail
