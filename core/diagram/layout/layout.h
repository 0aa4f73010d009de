// GraphLayout: the positions of everything in a diagram, found in four steps: ranks, the order within each,
// coordinates, routes of arrows (Gansner, Koutsofios, North, Vo 1993).
//
//     const GraphView view = GraphView::of({loss});
//     const GraphLayout layout = GraphLayout::of(view);
#pragma once

#include <vector>

#include "../view/view.h"

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

/// The positions of a view's vertices, edges and frames, each by its index.
struct GraphLayout {
  double width = 0;
  double height = 0;
  detail::Indexed<GraphBox> vertices;
  detail::Indexed<GraphCurve> edges;
  detail::Indexed<GraphBox> frames;
  detail::Indexed<GraphBox> titles;  ///< of frames: the boxes of their titles

  /// The layout of a view, with boxes of the size that their labels need. Throws ValueError for a frame without a
  /// vertex.
  static GraphLayout of(const GraphView& view, const GraphOptions& options = {});
};

}  // namespace xgrad
