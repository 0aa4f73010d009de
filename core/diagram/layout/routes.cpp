// Arrows between frames that stand side by side.
#include "routes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "arrangement.h"

namespace xgrad::detail {
namespace {

constexpr double above = 10;  // how far over its result an arrow turns down
constexpr double head = 6;    // the length of the arrow's head
constexpr double radius = 7;  // of corners

// Turns the page so that results stand below their inputs; twice is nothing.
class Turn {
 public:
  explicit Turn(Direction direction)
      : swaps_(direction == Direction::left_to_right || direction == Direction::right_to_left),
        flips_(direction == Direction::bottom_to_top || direction == Direction::right_to_left) {}

  GraphPoint there(const GraphPoint& point) const {
    const GraphPoint turned = swaps_ ? GraphPoint{point.y, point.x} : point;
    return {turned.x, flips_ ? -turned.y : turned.y};
  }
  GraphPoint back(const GraphPoint& point) const {
    const GraphPoint turned{point.x, flips_ ? -point.y : point.y};
    return swaps_ ? GraphPoint{turned.y, turned.x} : turned;
  }
  GraphBox there(const GraphBox& box) const {
    const GraphPoint a = there(GraphPoint{box.left, box.top}), b = there(GraphPoint{box.right(), box.bottom()});
    return {std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x), std::abs(a.y - b.y)};
  }

 private:
  bool swaps_, flips_;
};

GraphPoint towards(const GraphPoint& from, const GraphPoint& to, double distance) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double part = length > 0 ? std::min(distance / length, 0.5) : 0;
  return {from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)};
}

// The way over these corners as a Bezier curve.
std::vector<GraphPoint> with_round_corners(const std::vector<GraphPoint>& corners) {
  std::vector<GraphPoint> curve{corners.front()};
  const auto line_to = [&](const GraphPoint& end) {
    const GraphPoint begin = curve.back();
    curve.insert(curve.end(), {begin, end, end});
  };
  for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
    line_to(towards(corners[i], corners[i - 1], radius));
    curve.insert(curve.end(), {corners[i], corners[i], towards(corners[i], corners[i + 1], radius)});
  }
  line_to(corners.back());
  return curve;
}

// Whether a line that runs along one of the axes comes near a box.
bool meets(const GraphPoint& a, const GraphPoint& b, const GraphBox& box) {
  constexpr double near = 3;
  return std::min(a.x, b.x) < box.right() + near && std::max(a.x, b.x) > box.left - near &&
         std::min(a.y, b.y) < box.bottom() + near && std::max(a.y, b.y) > box.top - near;
}

}  // namespace

void route_between_frames(const GraphView& view, Direction direction, std::span<const GraphBox> vertices,
                          std::span<const GraphBox> frames, std::span<GraphCurve> edges) {
  const Arrangement arrangement(view);
  const Turn turn(direction);
  struct Bundle {
    std::vector<std::size_t> edges;
    std::set<int> from, to;
  };
  std::map<FramePair, Bundle> bundles;
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    const GraphEdge& edge = view.edges[e];
    const std::optional<FramePair> pair = arrangement.side_by_side(edge);
    if (!pair || arrangement.kind_of(edge) != EdgeKind::value) continue;
    Bundle& bundle = bundles[*pair];
    bundle.edges.push_back(e);
    bundle.from.insert(edge.from);
    bundle.to.insert(edge.to);
  }
  for (const auto& [pair, bundle] : bundles) {
    if (bundle.from.size() > 1 && bundle.to.size() > 1) continue;  // nobody could tell which is which
    const GraphBox first = turn.there(frames[pair.from]), second = turn.there(frames[pair.to]);
    const bool rightwards = first.right() < second.left;
    if (!rightwards && second.right() > first.left) continue;
    const double between = rightwards ? (first.right() + second.left) / 2 : (second.right() + first.left) / 2;
    for (const std::size_t e : bundle.edges) {
      const GraphBox from = turn.there(vertices[view.edges[e].from]);
      const GraphBox to = turn.there(vertices[view.edges[e].to]);
      const double begin = rightwards ? from.right() : from.left, end = to.center().x;
      const std::vector<GraphPoint> way{{begin, from.center().y},
                                        {between, from.center().y},
                                        {between, to.top - above},
                                        {end, to.top - above},
                                        {end, to.top - head}};
      bool is_free = true;
      for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
        if (v == view.edges[e].from || v == view.edges[e].to) continue;
        for (std::size_t i = 1; i < way.size(); ++i) {
          is_free &= !meets(way[i - 1], way[i], turn.there(vertices[v]));
        }
      }
      if (!is_free) continue;
      GraphCurve& curve = edges[e];
      curve = {.points = with_round_corners(way), .tip = {end, to.top}, .label = towards(way[1], way[2], 1e9)};
      for (GraphPoint& point : curve.points) point = turn.back(point);
      curve.tip = turn.back(curve.tip);
      curve.label = turn.back(curve.label);
    }
  }
}

}  // namespace xgrad::detail
