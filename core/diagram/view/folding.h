// The steps to a view: everything in the graph, equal structures once, modules as boxes (folding.cpp, which defines
// `GraphView::of`).
#pragma once

#include "view.h"

namespace xgrad::detail {

/// The view of everything that the results depend on, in frames, before anything is folded. Errors name `caller`.
GraphView everything(const Tensors& results, const GraphOptions& options, std::string_view caller);

/// The view with neighbours of the same structure, at each level, drawn as the first of them with their number: modules
/// (blocks.0, blocks.1, ...) and calls of one module that follow each other. The inputs of equal neighbours, x0, x1,
/// ..., become one vertex, too. Neighbours that would close a cycle stay as they are.
GraphView rolled_up(GraphView view);

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
