// GraphLayout: the positions of everything in a diagram, found in four steps: ranks, the order within each,
// coordinates, routes of arrows (Gansner, Koutsofios, North, Vo 1993).
//
//     const GraphView view = GraphView::of({loss});
//     const GraphLayout layout = GraphLayout::of(view);
#pragma once

#include "../view/view.h"
#include "geometry.h"

namespace xgrad {

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
