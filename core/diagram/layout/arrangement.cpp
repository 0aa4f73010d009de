// The directions of the arrows of a diagram.
#include "arrangement.h"

#include <algorithm>
#include <utility>

#include "../view/order.h"

namespace xgrad::detail {

Arrangement::Arrangement(const GraphView& view) : view_(view), contents_(view.frames.size() + 1) {
  for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
    highest_order_ = std::max(highest_order_, view.vertices[v].order);
    contents_[view.vertices[v].frame + 1].vertices.push_back(v);
  }
  for (int c = 0; std::cmp_less(c, view.frames.size()); ++c) {
    contents_[view.frames[c].parent + 1].frames.push_back(c);
  }
}

EdgeKind Arrangement::kind_of(const GraphEdge& edge) const {
  const int from = view_.vertices[edge.from].order;
  const int to = view_.vertices[edge.to].order;
  return from != to ? EdgeKind::borrowed : to > 0 ? EdgeKind::gradient : EdgeKind::value;
}

FramePair Arrangement::siblings_of(const GraphEdge& edge) const {
  FramePair pair{nothing, nothing};
  int from = view_.vertices[edge.from].frame;
  int to = view_.vertices[edge.to].frame;
  while (from != to) {  // parents have smaller numbers
    if (from > to) {
      pair.from = std::exchange(from, view_.frames[from].parent);
    } else {
      pair.to = std::exchange(to, view_.frames[to].parent);
    }
  }
  const bool both = pair.from != nothing && pair.to != nothing && view_.frames[pair.from].parent == from &&
                    view_.frames[pair.to].parent == from;
  return both ? pair : FramePair{nothing, nothing};
}

}  // namespace xgrad::detail
