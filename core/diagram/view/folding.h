// Folding: views with less detail, in which modules are boxes. `GraphView::of` is defined here.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// A folded view, and the parts of the view before that its parts stand for.
struct FoldedView {
  GraphView view;
  Indexed<int> vertices = {};  ///< by vertex: its index before; of a box: the index of the first vertex in it
  Indexed<int> boxes = {};     ///< by vertex: the frame that is this box now, or `nothing`
  Indexed<int> frames = {};    ///< by frame: its index before
};
/// The view with every module nested deeper than `depth` as one box, unless the box would close a cycle. The levels of
/// its frames need not be set.
FoldedView folded_below(GraphView view, int depth);

/// Whether the letters of its picture are still readable when the picture fills a page.
bool fits_on_a_page(const GraphView& view, const GraphOptions& options);

}  // namespace xgrad::detail
