// Points, boxes and curves on the page of a diagram.
#pragma once

#include <vector>

#include "../../base/config.h"

namespace xgrad {

/// A point on the page, in pixels from its upper left corner.
struct GraphPoint {
  double x = 0;
  double y = 0;
};

/// A box on the page, in pixels.
struct GraphBox {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
  GraphPoint center() const { return {left + width / 2, top + height / 2}; }
};

/// The path of an arrow, from an input to its result.
struct GraphCurve {
  std::vector<GraphPoint> points;  ///< a Bezier curve: the start, then three for each piece
  GraphPoint tip;                  ///< of the arrow's head, which starts where the curve ends
};

}  // namespace xgrad
