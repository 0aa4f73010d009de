// Folding: views with less detail, in which modules are boxes. `GraphView::of` is defined here.
#pragma once

#include <vector>

#include "view.h"

namespace xgrad::detail {

/// A folded view, and the parts of the view before that its parts stand for.
struct FoldedView {
  GraphView view;
  std::vector<int> vertices = {};  ///< by vertex: its number before; of a box: the number of the first vertex in it
  std::vector<int> boxes = {};     ///< by vertex: the frame that is this box now, or `nothing`
  std::vector<int> frames = {};    ///< by frame: its number before
};
/// The view with every module nested deeper than `depth` as one box, unless the box would close a cycle. The levels of
/// its frames need not be set.
FoldedView folded_below(GraphView view, int depth);

/// Whether the letters of its picture are still readable when the picture fills a page.
bool fits_on_a_page(const GraphView& view, const GraphOptions& options);

}  // namespace xgrad::detail
