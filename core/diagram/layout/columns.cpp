// Long chains in columns.
#include "columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "../view/label_size.h"
#include "layers.h"

namespace xgrad::detail {
namespace {

constexpr double between_columns = 40;
constexpr double around_column = 16;  // room for arrows to the next one

template <class Change>
Places changed(Places layout, Change&& change) {
  for (GraphBox& box : layout.vertices) {
    const GraphPoint a = change({box.left, box.top}), b = change({box.right(), box.bottom()});
    box = {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
  }
  for (GraphCurve& curve : layout.edges) {
    for (GraphPoint& point : curve.points) point = change(point);
    curve.tip = change(curve.tip);
    curve.label = change(curve.label);
  }
  return layout;
}
Places turned_over(Places layout) {
  const double height = layout.height;
  return changed(std::move(layout), [&](const GraphPoint& point) { return GraphPoint{point.x, height - point.y}; });
}
Places turned_aside(Places layout) {
  std::swap(layout.width, layout.height);
  return changed(std::move(layout), [](const GraphPoint& point) { return GraphPoint{point.y, point.x}; });
}

// For a layout in which everything runs down.
class Columns {
 public:
  Columns(const Places& layout, const GraphView& view, const GraphOptions& options)
      : layout_(layout), view_(view), has_labels_(options.edge_shapes) {}

  // The unchanged layout if it cannot be cut.
  Places placed() {
    if (!cut()) return layout_;
    Places result = layout_;
    std::vector<GraphPoint> shifts;
    double right = 0;
    result.height = 0;
    for (const Bounds& own : bounds()) {
      shifts.push_back({right - own.left, around_column - own.top});
      corridors_.push_back(right + own.right - own.left + between_columns / 2);
      feet_.push_back(own.bottom - own.top + 2 * around_column);
      right += own.right - own.left + between_columns;
      result.height = std::max(result.height, feet_.back());
    }
    result.width = right - between_columns;
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      result.vertices[v].left += shifts[column_[v]].x;
      result.vertices[v].top += shifts[column_[v]].y;
    }
    for (std::size_t e = 0; e < view_.edges.size(); ++e) {
      const int from = column_[view_.edges[e].from], to = column_[view_.edges[e].to];
      GraphCurve& curve = result.edges[e];
      const auto shift = [&](GraphPoint& point) { point = {point.x + shifts[to].x, point.y + shifts[to].y}; };
      std::ranges::for_each(curve.points, shift);
      shift(curve.tip);
      shift(curve.label);
      if (from == to) continue;
      const GraphPoint foot = layout_.edges[e].points.front();
      lead(curve, {foot.x + shifts[from].x, foot.y + shifts[from].y}, from);
    }
    return result;
  }

 private:
  struct Bounds {
    double left = std::numeric_limits<double>::infinity(), top = left, right = -left, bottom = -left;
    void hold(const GraphPoint& point) {
      left = std::min(left, point.x);
      right = std::max(right, point.x);
      top = std::min(top, point.y);
      bottom = std::max(bottom, point.y);
    }
  };

  // The heights of vertices; that of a leaf is where it is first used.
  std::vector<double> heights() const {
    std::vector<double> result;
    for (const GraphVertex& vertex : view_.vertices) {
      const bool is_leaf = vertex.role <= GraphRole::constant;
      const double own = layout_.vertices[result.size()].center().y;
      result.push_back(is_leaf ? std::numeric_limits<double>::infinity() : own);
    }
    for (const GraphEdge& edge : view_.edges) {
      result[edge.from] = std::min(result[edge.from], layout_.vertices[edge.to].center().y);
    }
    return result;
  }

  // Gives each vertex its column; false if one column suffices.
  bool cut() {
    const double across = layout_.width + between_columns;
    constexpr double sides = longer_side / shorter_side;
    const double most = std::max(longer_side, std::sqrt(sides * layout_.height * across));
    const double wanted = layout_.height / std::ceil(layout_.height / most);
    const std::vector<double> height = heights();
    std::vector<int> order(view_.vertices.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int v) { return height[v]; });
    std::vector<std::vector<int>> arrows(view_.vertices.size());
    for (int e = 0; std::cmp_less(e, view_.edges.size()); ++e) {
      arrows[view_.edges[e].from].push_back(e);
      arrows[view_.edges[e].to].push_back(e);
    }
    std::vector<double> places;
    std::set<int> passing;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      for (const int e : arrows[order[i]]) {
        if (passing.erase(e) == 0) passing.insert(e);
      }
      constexpr double nearly = 1;
      if (passing.size() != 1 || height[order[i + 1]] <= height[order[i]] + nearly) continue;
      const int foot = view_.edges[*passing.begin()].from;
      const double end = height[order[i]];
      const auto is_in_the_way = [&](int v) { return height[v] > end && is_over(v, foot); };
      if (height[foot] >= end - nearly && std::ranges::none_of(order, is_in_the_way)) places.push_back(end);
    }
    std::vector<double> cuts;
    for (double begin = 0; begin + most < layout_.height;) {
      double best = begin;
      for (const double place : places) {
        if (place <= begin || place > begin + most) continue;
        if (best == begin || std::abs(place - begin - wanted) < std::abs(best - begin - wanted)) best = place;
      }
      if (best == begin) return false;
      cuts.push_back(begin = best);
    }
    for (const double own : height) {
      column_.push_back(static_cast<int>(std::ranges::lower_bound(cuts, own) - cuts.begin()));
    }
    return !cuts.empty();
  }

  // Whether the arrow to the position of `foot` comes from above through v.
  bool is_over(int v, int foot) const {
    const GraphBox &box = layout_.vertices[v], &other = layout_.vertices[foot];
    return box.top < other.bottom() && box.left < other.right() && box.right() > other.left;
  }

  std::vector<Bounds> bounds() const {
    std::vector<Bounds> result(static_cast<std::size_t>(std::ranges::max(column_)) + 1);
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      const GraphBox& box = layout_.vertices[v];
      result[column_[v]].hold({box.left, box.top});
      result[column_[v]].hold({box.right(), box.bottom()});
    }
    for (std::size_t e = 0; e < view_.edges.size(); ++e) {
      const GraphCurve& curve = layout_.edges[e];
      Bounds& own = result[column_[view_.edges[e].to]];
      for (const GraphPoint& point : curve.points) own.hold(point);
      if (!has_labels_) continue;
      const LabelSize label = size_of_edge_label(view_.edges[e]);
      const double room = std::max(label.width, label.height) / 2;
      own.hold({curve.label.x - room, curve.label.y - room});
      own.hold({curve.label.x + room, curve.label.y + room});
    }
    return result;
  }

  // The path from the foot of a column to the start of the curve, which is in the next one.
  void lead(GraphCurve& curve, const GraphPoint& begin, int column) const {
    const GraphPoint end = curve.points.front();
    const double below = feet_[column] - around_column / 2, above = around_column / 2, along = corridors_[column];
    const std::vector<GraphPoint> corners{begin, {begin.x, below}, {along, below}, {along, above}, {end.x, above}, end};
    std::vector<GraphPoint> way{begin};
    const auto line_to_point = [&](const GraphPoint& point) { way.insert(way.end(), {way.back(), point, point}); };
    for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
      const GraphPoint &corner = corners[i], before = beside(corner, corners[i - 1]),
                       after = beside(corner, corners[i + 1]);
      line_to_point(before);
      way.insert(way.end(), {corner, corner, after});
    }
    line_to_point(end);
    curve.points.erase(curve.points.begin());
    way.insert(way.end(), curve.points.begin(), curve.points.end());
    curve.points = std::move(way);
  }
  // The point on the path from a corner at which its curve ends.
  static GraphPoint beside(const GraphPoint& corner, const GraphPoint& to) {
    const double x = to.x - corner.x, y = to.y - corner.y, length = std::abs(x) + std::abs(y);
    const double share = length > 0 ? std::min(around_column / 4, length / 2) / length : 0;
    return {corner.x + share * x, corner.y + share * y};
  }

  const Places& layout_;
  const GraphView& view_;
  const bool has_labels_;
  std::vector<int> column_;               // by vertex
  std::vector<double> corridors_, feet_;  // by column: where the arrow to the next one runs up, and below it
};

}  // namespace

Places in_columns(Places places, const GraphView& view, const GraphOptions& options) {
  const double length = runs_sideways(options.direction) ? places.width : places.height;
  const auto is_backward = [](const GraphVertex& vertex) { return vertex.order > 0; };
  if (length <= longer_side || std::ranges::any_of(view.vertices, is_backward)) return places;
  const bool aside = runs_sideways(options.direction);
  const bool over = options.direction == Direction::bottom_to_top || options.direction == Direction::right_to_left;
  if (aside) places = turned_aside(std::move(places));
  if (over) places = turned_over(std::move(places));
  places = Columns(places, view, options).placed();
  if (over) places = turned_over(std::move(places));
  return aside ? turned_aside(std::move(places)) : places;
}

}  // namespace xgrad::detail
