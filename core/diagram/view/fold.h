// A view with less detail.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// A view with modules as boxes, and what its parts were before.
struct FoldedView {
  GraphView view;
  std::vector<int> vertices = {};  ///< by vertex: its number before; of a box: that of the first vertex in it
  std::vector<int> boxes = {};     ///< by vertex: the frame that is this box now, or -1
  std::vector<int> frames = {};    ///< by frame: its number before
};
/// Every module nested deeper than `depth` as one vertex, unless that would close a cycle. Also for a view made by
/// hand, whose frames may not know their levels.
FoldedView folded_below(GraphView view, int depth);

/// Whether letters are still readable when the picture of it fills a page.
bool fits_on_a_page(const GraphView& view, const GraphOptions& options);

}  // namespace xgrad::detail
