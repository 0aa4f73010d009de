// The routes of arrows through the layers of a diagram.
#include <algorithm>
#include <cmath>
#include <utility>

#include "layout.h"
#include "steps.h"

namespace xgrad::detail {
namespace {

constexpr double head = 6;  // the length of an arrow's head

class Router {
 public:
  Router(const Layers& layers, const Placing& placing, const Ordering& ordering)
      : layers_(layers), placing_(placing), ordering_(ordering) {}

  GraphCurve route(int e) {
    const GraphEdge& edge = layers_.view.edges[e];
    curve_ = {};
    if (layers_.is_flat(edge)) {
      within_layer(edge);
    } else {
      between_layers(e, edge);
    }
    return std::move(curve_);
  }

 private:
  const Item& at(int item) const { return layers_.items[item]; }
  double top(int vertex) const { return placing_.layers[at(vertex).first].middle() - at(vertex).along / 2; }
  double bottom(int vertex) const { return placing_.layers[at(vertex).first].middle() + at(vertex).along / 2; }

  void line_to(const GraphPoint& end) {
    const GraphPoint begin = curve_.points.back();
    if (begin.x == end.x && begin.y == end.y) return;
    curve_.points.insert(curve_.points.end(), {begin, end, end});
  }
  // Leaves and arrives along the page.
  void turn_to(const GraphPoint& end) {
    const GraphPoint begin = curve_.points.back();
    if (std::abs(begin.x - end.x) < 0.5) return line_to(end);
    const double middle = (begin.y + end.y) / 2;
    curve_.points.insert(curve_.points.end(), {{begin.x, middle}, {end.x, middle}, end});
  }

  void between_layers(int e, const GraphEdge& edge) {
    const int upper = layers_.upper(edge), lower = layers_.lower(edge);
    const bool down = layers_.above(edge);
    const Ports& ports = placing_.ports[e];
    const GraphPoint begin{placing_.across[upper] + ports.upper, bottom(upper)};
    const GraphPoint end{placing_.across[lower] + ports.lower, top(lower)};
    curve_.points.push_back({begin.x, begin.y + (down ? 0 : head)});
    for (const int l : layers_.ways[e]) {
      const Link& link = layers_.links[l];
      const double above = placing_.layers[link.gap].end, below = placing_.layers[link.gap + 1].begin;
      const bool is_last = link.lower == lower;
      const GraphPoint next{is_last ? end.x : placing_.across[link.lower], below};
      if (std::abs(next.x - curve_.points.back().x) < 0.5 && !is_last) continue;
      if (link.upper != upper || above > curve_.points.back().y) line_to({curve_.points.back().x, above});
      turn_to(is_last && next.y > end.y - head && down ? GraphPoint{end.x, end.y - head} : next);
    }
    line_to({end.x, end.y - (down ? head : 0)});
    curve_.tip = down ? end : begin;
    if (!down) std::ranges::reverse(curve_.points);
  }

  void within_layer(const GraphEdge& edge) {
    const Item &from = at(edge.from), &to = at(edge.to);
    const double x_from = placing_.across[edge.from], x_to = placing_.across[edge.to];
    const double side = x_from < x_to ? 1 : -1;
    const double y = placing_.layers[from.first].middle();
    const Indexed<int>& row = ordering_.layers[from.first];
    auto first = std::ranges::find(row, edge.from), last = std::ranges::find(row, edge.to);
    if (last < first) std::swap(first, last);
    const bool is_free = std::none_of(first + 1, last, [&](int p) { return at(p).kind == ItemKind::vertex; });
    if (is_free) {
      const GraphPoint begin{x_from + side * from.across / 2, y}, tip{x_to - side * to.across / 2, y};
      curve_.points.push_back(begin);
      line_to({tip.x - side * head, y});
      curve_.tip = tip;
      return;
    }
    // Above everything in between.
    const double free = placing_.layers[from.first].begin - 8;
    const GraphPoint begin{x_from + side * from.across / 4, top(edge.from)},
        tip{x_to - side * to.across / 4, top(edge.to)};
    constexpr double turn = 8;
    curve_.points.push_back(begin);
    line_to({begin.x, std::min(begin.y, free + turn)});
    const GraphPoint corner{begin.x, free}, last_corner{tip.x, free};
    curve_.points.insert(curve_.points.end(), {corner, corner, {corner.x + side * turn, free}});
    line_to({last_corner.x - side * turn, free});
    curve_.points.insert(curve_.points.end(), {last_corner, last_corner, {tip.x, tip.y - head}});
    curve_.tip = tip;
  }

  const Layers& layers_;
  const Placing& placing_;
  const Ordering& ordering_;
  GraphCurve curve_;
};

}  // namespace

Indexed<GraphCurve> routes(const Layers& layers, const Placing& placing, const Ordering& ordering) {
  Router router(layers, placing, ordering);
  Indexed<GraphCurve> curves;
  for (int e = 0; e < layers.view.edges.count(); ++e) curves.push_back(router.route(e));
  return curves;
}

}  // namespace xgrad::detail
