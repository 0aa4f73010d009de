// The positions of everything in a diagram. The program `dot` of Graphviz ranks boxes of known sizes, and gives them a
// first order; the order within ranks, positions and arrows are computed here.
//
//     const GraphView view = GraphView::of({loss});
//     const GraphLayout layout = GraphLayout::of(view);
//
// Nothing of Graphviz runs in this process, and it gets no text: only sizes, arrows and frames.
#pragma once

#include <string_view>
#include <vector>

#include "../../files/program.h"
#include "../view/view.h"
#include "geometry.h"

namespace xgrad {

/// The positions of a view's vertices, edges and frames, each by its index.
struct GraphLayout {
  double width = 0;
  double height = 0;
  std::vector<GraphBox> vertices;
  std::vector<GraphCurve> edges;
  std::vector<GraphBox> frames;
  std::vector<GraphBox> titles;  ///< of frames: the boxes of their titles

  /// Boxes are as large as their labels need with these options. Throws ValueError for limits that are not positive,
  /// IoError if `dot` is missing, fails, or exceeds a limit. Errors name `caller`.
  static GraphLayout of(const GraphView& view, const GraphOptions& options = {}, const DrawingLimits& limits = {},
                        std::string_view caller = "graph_layout");
};

namespace detail {
/// Throws ValueError unless the layout has as many vertices, edges and frames as the view. Errors name `caller`.
void check_layout(const GraphView& view, const GraphLayout& layout, std::string_view caller);
}  // namespace detail

}  // namespace xgrad
