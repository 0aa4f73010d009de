// Long chains in columns.
#include "columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "../view/label_size.h"
#include "../view/order.h"
#include "layers.h"

namespace xgrad::detail {
namespace {

constexpr double beside_column = 16;  // its room to each side
constexpr double lane = 8;            // of an arrow to the next one

template <class Change>
Places changed(Places layout, Change&& change) {
  for (GraphBox& box : layout.vertices) {
    const GraphPoint a = change({box.left, box.top}), b = change({box.right(), box.bottom()});
    box = {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
  }
  for (GraphCurve& curve : layout.edges) {
    for (GraphPoint& point : curve.points) point = change(point);
    curve.tip = change(curve.tip);
  }
  return layout;
}
Places turned_aside(Places layout) {
  std::swap(layout.width, layout.height);
  return changed(std::move(layout), [](const GraphPoint& point) { return GraphPoint{point.y, point.x}; });
}

// For a layout in which everything runs down.
class Columns {
 public:
  Columns(const Places& layout, const GraphView& view) : layout_(layout), view_(view) {}

  // The unchanged layout if it cannot be cut.
  Places placed() {
    if (!cut()) return layout_;
    Places result = layout_;
    std::vector<GraphPoint> shifts;
    std::size_t most_lanes = 1;
    for (const std::vector<int>& arrows : passing_) most_lanes = std::max(most_lanes, arrows.size());
    const double lanes = lane * double(most_lanes), between_columns = 2 * beside_column + lanes;
    head_ = lane + lanes;
    double right = 0;
    result.height = 0;
    for (const Bounds& own : bounds()) {
      shifts.push_back({right - own.left, head_ - own.top});
      corridors_.push_back(right + own.right - own.left + (between_columns + lanes - lane) / 2);
      feet_.push_back(own.bottom - own.top + 2 * head_);
      right += own.right - own.left + between_columns;
      result.height = std::max(result.height, feet_.back());
    }
    result.width = right - between_columns;
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      result.vertices[v].left += shifts[column_[v]].x;
      result.vertices[v].top += shifts[column_[v]].y;
    }
    for (std::size_t e = 0; e < view_.edges.size(); ++e) {
      const GraphPoint &with_foot = shifts[column_[upper(e)]], &with_head = shifts[column_[lower(e)]];
      GraphCurve& curve = result.edges[e];
      for (GraphPoint& point : curve.points) point = moved(point, with_head);
      curve.tip = moved(curve.tip, upper(e) == view_.edges[e].to ? with_foot : with_head);
    }
    for (int column = 0; std::cmp_less(column, passing_.size()); ++column) {
      const auto ends = [&](int e) {  // above and below the place
        const std::vector<GraphPoint>& points = layout_.edges[e].points;
        const auto [below, above] = std::minmax(points.front(), points.back(), is_lower);
        return std::pair(above.x, below.x);
      };
      std::ranges::sort(passing_[column], {}, ends);
      for (std::size_t k = 0; k < passing_[column].size(); ++k) {
        const int e = passing_[column][k];
        std::vector<GraphPoint>& points = result.edges[e].points;
        const bool upwards = upper(e) == view_.edges[e].to;
        if (upwards) std::ranges::reverse(points);
        lead(points,
             moved(points.front(), {shifts[column].x - shifts[column + 1].x, shifts[column].y - shifts[column + 1].y}),
             column, lane * double(k));
        if (upwards) std::ranges::reverse(points);
      }
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

  static bool is_lower(const GraphPoint& a, const GraphPoint& b) { return a.y > b.y; }
  static GraphPoint moved(const GraphPoint& point, const GraphPoint& by) { return {point.x + by.x, point.y + by.y}; }
  double height_of(int v) const { return layout_.vertices[v].center().y; }
  bool runs_up(int e) const { return height_of(view_.edges[e].to) < height_of(view_.edges[e].from); }
  int upper(std::size_t e) const { return runs_up(static_cast<int>(e)) ? view_.edges[e].to : view_.edges[e].from; }
  int lower(std::size_t e) const { return runs_up(static_cast<int>(e)) ? view_.edges[e].from : view_.edges[e].to; }

  // The heights of vertices; that of a leaf is where it is first used.
  std::vector<double> heights() const {
    const auto is_leaf = [this](int v) { return view_.vertices[v].role <= GraphRole::constant; };
    std::vector<double> result;
    for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
      result.push_back(is_leaf(v) ? std::numeric_limits<double>::infinity() : height_of(v));
    }
    for (const GraphEdge& edge : view_.edges) {
      if (is_leaf(edge.from)) result[edge.from] = std::min(result[edge.from], height_of(edge.to));
    }
    return result;
  }

  // Gives each vertex its column; false if one column suffices.
  bool cut() {
    const double across = layout_.width + 2 * beside_column + lane;
    constexpr double sides = longer_side / shorter_side;
    const double most = std::max(longer_side, std::sqrt(sides * layout_.height * across));
    const double wanted = layout_.height / std::ceil(layout_.height / most);
    const std::vector<double> height = heights();
    std::vector<int> order(view_.vertices.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](int v) { return height[v]; });
    std::vector<std::vector<int>> arrows(view_.vertices.size()), rules_of(view_.vertices.size());
    for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
      const int operation = view_.vertices[v].rule_of;
      if (operation == nothing) continue;
      rules_of[v].push_back(v);
      rules_of[operation].push_back(v);
    }
    for (int e = 0; std::cmp_less(e, view_.edges.size()); ++e) {
      arrows[view_.edges[e].from].push_back(e);
      arrows[view_.edges[e].to].push_back(e);
    }
    struct Place {
      std::vector<int> arrows;  // that pass it
      bool parts_rule;          // from its operation
    };
    std::map<double, Place> places;
    std::set<int> passing, rules;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      for (const int rule : rules_of[order[i]]) {
        if (rules.erase(rule) == 0) rules.insert(rule);
      }
      for (const int e : arrows[order[i]]) {
        if (passing.erase(e) == 0) passing.insert(e);
      }
      constexpr double nearly = 1;
      if (height[order[i + 1]] <= height[order[i]] + nearly || !is_chain(passing)) continue;
      const double end = height[order[i]];
      const auto leads_away = [&](int e) {
        const int foot = upper(e);
        const auto is_in_the_way = [&](int v) { return height[v] > end && is_over(v, foot); };
        return height[foot] >= end - nearly && std::ranges::none_of(order, is_in_the_way);
      };
      if (std::ranges::all_of(passing, leads_away)) places[end] = {{passing.begin(), passing.end()}, !rules.empty()};
    }
    std::vector<double> cuts;
    for (double begin = 0; begin + most < layout_.height;) {
      constexpr double of_parted_rule = 200;
      double best = begin, least = std::numeric_limits<double>::infinity();
      for (const auto& [place, here] : places) {
        const double cost = std::abs(place - begin - wanted) + (here.parts_rule ? of_parted_rule : 0);
        if (place <= begin || place > begin + most || cost >= least) continue;
        best = place;
        least = cost;
      }
      if (best == begin) return false;
      cuts.push_back(begin = best);
      passing_.push_back(places.at(best).arrows);
    }
    for (const double own : height) {
      column_.push_back(static_cast<int>(std::ranges::lower_bound(cuts, own) - cuts.begin()));
    }
    return !cuts.empty();
  }

  // One arrow of the forward pass, at most one of a backward pass, and kept values.
  bool is_chain(const std::set<int>& arrows) const {
    const auto of_orders = [&](bool from, bool to) {
      return std::ranges::count_if(arrows, [&](int e) {
        const GraphEdge& edge = view_.edges[e];
        return (view_.vertices[edge.from].order > 0) == from && (view_.vertices[edge.to].order > 0) == to;
      });
    };
    return of_orders(false, false) == 1 && of_orders(true, true) <= 1;
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
      Bounds& own = result[column_[lower(e)]];
      for (const GraphPoint& point : curve.points) own.hold(point);
    }
    return result;
  }

  // The path from the foot of a column to the start of a curve that is in the next one, in the lane so far inside.
  void lead(std::vector<GraphPoint>& points, const GraphPoint& begin, int column, double inside) const {
    const GraphPoint end = points.front();
    const double below = feet_[column] - lane - inside, above = head_ - lane - inside,
                 along = corridors_[column] - inside;
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
    points.erase(points.begin());
    way.insert(way.end(), points.begin(), points.end());
    points = std::move(way);
  }
  // The point on the path from a corner at which its curve ends.
  static GraphPoint beside(const GraphPoint& corner, const GraphPoint& to) {
    const double x = to.x - corner.x, y = to.y - corner.y, length = std::abs(x) + std::abs(y);
    const double share = length > 0 ? std::min(lane / 2, length / 2) / length : 0;
    return {corner.x + share * x, corner.y + share * y};
  }

  const Places& layout_;
  const GraphView& view_;
  std::vector<int> column_;                // by vertex
  std::vector<std::vector<int>> passing_;  // by column: the arrows between it and the next one
  std::vector<double> corridors_, feet_;   // by column: where the first of them runs up, and below it
  double head_ = 0;                        // the room above columns
};

}  // namespace

Places in_columns(Places places, const GraphView& view, const GraphOptions& options) {
  const bool aside = options.direction == Direction::left_to_right;
  const double length = aside ? places.width : places.height;
  const auto is_of_later_pass = [](const GraphVertex& vertex) { return vertex.order > 1; };
  if (length <= longer_side || std::ranges::any_of(view.vertices, is_of_later_pass)) return places;
  if (aside) places = turned_aside(std::move(places));
  places = Columns(places, view).placed();
  return aside ? turned_aside(std::move(places)) : places;
}

}  // namespace xgrad::detail
