// Views with less detail: for a picture, and for the levels and modules of a page.
#pragma once

#include <string>
#include <vector>

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

/// What a vertex of such a view stands for.
struct PageVertex {
  int vertex = -1;                   ///< a vertex of the graph, or
  int frame = -1;                    ///< a module that is one box, or
  std::string name = {};             ///< a neighbour of the module
  std::vector<int> neighbours = {};  ///< its vertices that arrows come from or lead to
};

struct PageView {
  int module = -1;  ///< the frame whose inside it is, the first with its path, or -1: the whole graph
  GraphView view;
  std::vector<PageVertex> shown = {};  ///< by vertex
  std::vector<int> frames = {};        ///< by frame: its number in the graph
};

/// The whole graph, with modules below level 0, 1, 2, ... folded, as far as a level has at most 300 boxes.
std::vector<PageView> levels_of(const GraphView& view);

/// For each path of a module what is inside, with its modules as boxes: its forward and its backward pass. What is
/// outside, a vertex or a module, is an input if arrows come from it, a result if they lead to it. It has no name yet,
/// so that the insides of equal modules are equal.
std::vector<PageView> insides_of(const GraphView& view);
/// With the names of the neighbours.
GraphView named(const PageView& inside);

}  // namespace xgrad::detail
