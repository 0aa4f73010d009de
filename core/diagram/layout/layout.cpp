// The positions of everything in a diagram.
#include "layout.h"

#include <algorithm>
#include <utility>

#include "../../base/error.h"
#include "../view/topology.h"
#include "steps.h"

namespace xgrad {

GraphLayout GraphLayout::of(const GraphView& view, const GraphOptions& options) {
  detail::check_view(view, "graph_layout");
  detail::Indexed<bool> filled(view.frames.count());
  for (const GraphVertex& vertex : view.vertices) {
    for (int f = vertex.frame; f != detail::nothing && !filled[f]; f = view.frames[f].parent) filled[f] = true;
  }
  if (const auto empty = std::ranges::find(filled, false); empty != filled.end()) {
    fail<ValueError>("graph_layout", "the frame '", detail::printable(view.frames[empty - filled.begin()].path),
                     "' holds no vertex");
  }
  const detail::Layers layers(view, options, detail::ranks_of(view));
  const detail::Ordering ordering = detail::ordered(layers);
  const detail::Placing placing = detail::placed(layers, ordering);
  const bool sideways = layers.sideways;
  constexpr double title_inset = 6;
  const auto box = [&](double across, double along, double breadth, double length) {
    return sideways ? GraphBox{along, across, length, breadth} : GraphBox{across, along, breadth, length};
  };
  const auto turn = [&](GraphPoint& point) {
    if (sideways) std::swap(point.x, point.y);
  };
  GraphLayout layout;
  layout.width = sideways ? placing.page_along : placing.page_across;
  layout.height = sideways ? placing.page_across : placing.page_along;
  for (int v = 0; v < view.vertices.count(); ++v) {
    const detail::Item& item = layers.items[v];
    layout.vertices.push_back(box(placing.across[v] - item.across / 2,
                                  placing.layers[item.first].middle() - item.along / 2, item.across, item.along));
  }
  for (int c = 0; c < view.frames.count(); ++c) {
    const detail::Extent &across = placing.frames_across[c], &along = placing.frames_along[c];
    layout.frames.push_back(box(across.begin, along.begin, across.size(), along.size()));
    const detail::Item& title = layers.items[layers.title_item(c)];
    layout.titles.push_back(
        box(across.begin + title_inset, placing.layers[title.first].begin, title.across, title.along));
  }
  layout.edges = detail::routes(layers, placing, ordering);
  for (GraphCurve& curve : layout.edges) {
    std::ranges::for_each(curve.points, turn);
    turn(curve.tip);
  }
  return layout;
}

}  // namespace xgrad
