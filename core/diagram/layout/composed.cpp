// Layouts frame by frame.
#include "composed.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "../../base/error.h"
#include "../view/label_size.h"
#include "../view/order.h"
#include "dot.h"

namespace xgrad::detail {
namespace {

constexpr double margin = 10;                    // between a frame and its contents
constexpr std::size_t most_arrows_of_dot = 320;  // for a view with frames: 350 can take it a minute

// Maps old places to new ones along one axis: an item that needs more room pushes everything after it away.
class Spread {
 public:
  struct Need {
    double from, to, length;
  };

  explicit Spread(const std::vector<Need>& needs) {
    for (const Need& need : needs) places_.insert(places_.end(), {need.from, need.to});
    std::ranges::sort(places_);
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
    for (std::size_t i = 1; i < places_.size(); ++i) lengths_.push_back(places_[i] - places_[i - 1]);
    for (const Need& need : needs) {
      const auto first = lengths_.begin() + number_of(need.from), last = lengths_.begin() + number_of(need.to);
      const double present = std::accumulate(first, last, 0.0);
      if (present >= need.length) continue;
      for (auto length = first; length != last; ++length) *length *= need.length / present;
    }
    if (!places_.empty()) starts_.push_back(places_.front());
    for (const double length : lengths_) starts_.push_back(starts_.back() + length);
  }

  double operator()(double old) const {
    if (places_.empty() || old <= places_.front()) return old;
    if (old >= places_.back()) return starts_.back() + old - places_.back();
    const auto i = static_cast<std::size_t>(std::ranges::upper_bound(places_, old) - places_.begin() - 1);
    return starts_[i] + lengths_[i] * (old - places_[i]) / (places_[i + 1] - places_[i]);
  }

 private:
  std::ptrdiff_t number_of(double place) const { return std::ranges::lower_bound(places_, place) - places_.begin(); }

  std::vector<double> places_, lengths_, starts_;
};

GraphPoint moved(const GraphPoint& point, double x, double y) { return {point.x + x, point.y + y}; }

void line_to(std::vector<GraphPoint>& curve, const GraphPoint& end) {
  const GraphPoint begin = curve.back();
  curve.insert(curve.end(), {begin, end, end});
}

// A box in a frame, as passed to dot: a vertex, a closed frame, or the place at which the arrows from or to the outside
// of the frame meet.
struct Member {
  enum class Kind { entry, vertex, frame, exit } kind;
  int number;  // of the vertex or frame; of an entry or exit the order of the outside vertices
  auto operator<=>(const Member&) const = default;
};

// The path of an arrow within a frame.
struct Way {
  Member from, to;
  int input;  // of arrows between two vertices; otherwise those between the same items are merged
  auto operator<=>(const Way&) const = default;
};

// One frame with its contents.
struct Inside {
  std::set<Member> items;
  std::map<Way, std::size_t> ways;  // each with one of the edges along it
  std::map<Member, GraphBox> boxes;
  std::map<Way, GraphCurve> curves;
  double width = 0, height = 0;
};

class Composition {
 public:
  using PlanOf = std::function<const GraphLayout&(const GraphView&)>;

  Composition(const GraphView& view, PlanOf plan_of)
      : view_(view), plan_of_(std::move(plan_of)), insides_(view.frames.size() + 1) {
    for (std::size_t v = 0; v < view.vertices.size(); ++v) {
      inside(view.vertices[v].frame).items.insert({Member::Kind::vertex, static_cast<int>(v)});
    }
    for (std::size_t c = 0; c < view.frames.size(); ++c) {
      inside(view.frames[c].parent).items.insert({Member::Kind::frame, static_cast<int>(c)});
    }
    for (std::size_t e = 0; e < view.edges.size(); ++e) {
      for (const auto& [frame, way] : ways_of(e)) {
        inside(frame).items.insert({way.from, way.to});
        inside(frame).ways.emplace(way, e);
      }
    }
  }

  GraphLayout layout() && {
    for (int c = static_cast<int>(view_.frames.size()); c-- > nothing;) arrange(c);
    const Inside& page = inside(nothing);
    GraphLayout result{.width = page.width,
                       .height = page.height,
                       .vertices = std::vector<GraphBox>(view_.vertices.size()),
                       .edges = std::vector<GraphCurve>(view_.edges.size()),
                       .frames = std::vector<GraphBox>(view_.frames.size()),
                       .titles = std::vector<GraphBox>(view_.frames.size())};
    const auto corner_of = [&](int frame) {
      return frame == nothing ? GraphPoint{} : GraphPoint{result.frames[frame].left, result.frames[frame].top};
    };
    const auto placed = [&](const Member& item, int frame) {
      const GraphBox& box = inside(frame).boxes.at(item);
      const GraphPoint corner = moved(corner_of(frame), box.left, box.top);
      return GraphBox{corner.x, corner.y, box.width, box.height};
    };
    for (std::size_t c = 0; c < view_.frames.size(); ++c) {
      const GraphFrame& frame = view_.frames[c];
      const LabelSize title = size_of_title(frame);
      result.frames[c] = placed({Member::Kind::frame, static_cast<int>(c)}, frame.parent);
      result.titles[c] = {result.frames[c].left, result.frames[c].top, title.width, title.height};
    }
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      result.vertices[v] = placed({Member::Kind::vertex, static_cast<int>(v)}, view_.vertices[v].frame);
    }
    for (std::size_t e = 0; e < view_.edges.size(); ++e) {
      GraphCurve& whole = result.edges[e];
      for (const auto& [frame, way] : ways_of(e)) {
        const GraphPoint corner = corner_of(frame);
        const GraphCurve& curve = inside(frame).curves.at(way);
        if (!whole.points.empty()) {
          line_to(whole.points, whole.tip);
          line_to(whole.points, moved(curve.points.front(), corner.x, corner.y));
        }
        for (std::size_t i = whole.points.empty() ? 0 : 1; i < curve.points.size(); ++i) {
          whole.points.push_back(moved(curve.points[i], corner.x, corner.y));
        }
        whole.tip = moved(curve.tip, corner.x, corner.y);
      }
    }
    return result;
  }

 private:
  Inside& inside(int frame) { return insides_[static_cast<std::size_t>(frame + 1)]; }

  // The paths of an edge through frames, out of those around its start and into those around its end.
  std::vector<std::pair<int, Way>> ways_of(std::size_t e) const {
    const GraphEdge& edge = view_.edges[e];
    Member from{Member::Kind::vertex, edge.from}, to{Member::Kind::vertex, edge.to};
    int around_from = view_.vertices[edge.from].frame, around_to = view_.vertices[edge.to].frame;
    std::vector<std::pair<int, Way>> out, in;
    while (around_from != around_to) {  // parents have smaller numbers
      if (around_from > around_to) {
        out.emplace_back(around_from, Way{from, {Member::Kind::exit, view_.vertices[edge.to].order}, 0});
        from = {Member::Kind::frame, around_from};
        around_from = view_.frames[around_from].parent;
      } else {
        in.emplace_back(around_to, Way{{Member::Kind::entry, view_.vertices[edge.from].order}, to, 0});
        to = {Member::Kind::frame, around_to};
        around_to = view_.frames[around_to].parent;
      }
    }
    const bool of_vertices = from.kind == Member::Kind::vertex && to.kind == Member::Kind::vertex;
    out.emplace_back(around_from, Way{from, to, of_vertices ? edge.input : 0});
    out.insert(out.end(), in.rbegin(), in.rend());
    return out;
  }

  GraphVertex stand_in(const Member& item) const {
    switch (item.kind) {
      case Member::Kind::vertex: {
        GraphVertex vertex = view_.vertices[item.number];
        vertex.frame = nothing;
        return vertex;
      }
      case Member::Kind::frame: {
        const GraphFrame& frame = view_.frames[item.number];
        return {.role = GraphRole::module, .op = frame.title, .name = {}, .path = {}, .order = frame.order};
      }
      default:
        return {.role = GraphRole::constant, .op = {}, .name = {}, .path = {}, .number = 0, .order = item.number};
    }
  }

  // The contents of the frame, as a view of its own without frames, and the item of each of its vertices. Arrows that
  // would close a cycle, such as one that comes back into a frame which is closed here, are left out.
  GraphView part(const Inside& inside, std::vector<Member>& items, std::vector<Way>& ways) const {
    GraphView result;
    std::map<Member, int> number;
    for (const Member& item : inside.items) {
      number.emplace(item, static_cast<int>(items.size()));
      items.push_back(item);
      result.vertices.push_back(stand_in(item));
    }
    std::vector<std::pair<int, int>> arrows;
    for (const auto& [way, e] : inside.ways) arrows.emplace_back(number.at(way.from), number.at(way.to));
    const std::vector<int> cycle = cycles(static_cast<int>(items.size()), arrows);
    for (const auto& [way, e] : inside.ways) {
      const int from = number.at(way.from), to = number.at(way.to);
      if (from == to || (cycle[from] != nothing && cycle[from] == cycle[to] && from > to)) continue;
      GraphEdge& edge = result.edges.emplace_back(view_.edges[e]);
      edge.from = from;
      edge.to = to;
      edge.input = way.input;
    }
    put_below_entries(result, items);
    const std::vector<int> numbers = topological_numbers(result);
    std::vector<Member> in_order(items);
    for (std::size_t i = 0; i < items.size(); ++i) in_order[numbers[i]] = items[i];
    items = std::move(in_order);
    result = renumbered(std::move(result), numbers);
    for (const GraphEdge& edge : result.edges) ways.push_back({items[edge.from], items[edge.to], edge.input});
    return result;
  }

  // Vertices without inputs in the frame stand below its entry, so that no arrow has to come in through them.
  static void put_below_entries(GraphView& part, const std::vector<Member>& items) {
    std::vector<bool> begins(items.size(), true);
    for (const GraphEdge& edge : part.edges) begins[edge.to] = false;
    for (std::size_t entry = 0; entry < items.size() && items[entry].kind == Member::Kind::entry; ++entry) {
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (!begins[i] || items[i].kind == Member::Kind::entry || part.vertices[i].order != items[entry].number)
          continue;
        part.edges.push_back({.from = static_cast<int>(entry), .to = static_cast<int>(i), .input = 0, .shape = {}});
      }
    }
  }

  void arrange(int frame) {
    Inside& here = inside(frame);
    std::vector<Member> items;
    std::vector<Way> ways;
    const GraphLayout& plan = plan_of_(part(here, items, ways));
    std::vector<Spread::Need> widths, heights;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind != Member::Kind::frame) continue;
      const GraphBox& box = plan.vertices[i];
      const Inside& child = inside(items[i].number);
      widths.push_back({box.left, box.right(), child.width});
      heights.push_back({box.top, box.bottom(), child.height});
    }
    const Spread x(widths), y(heights);
    const LabelSize title = frame == nothing ? LabelSize{} : size_of_title(view_.frames[frame]);
    const double left = frame == nothing ? 0 : margin, top = frame == nothing ? 0 : title.height + 2;
    const auto at = [&](const GraphPoint& point) { return GraphPoint{x(point.x) + left, y(point.y) + top}; };
    for (std::size_t i = 0; i < items.size(); ++i) {
      const GraphBox& box = plan.vertices[i];
      const bool is_frame = items[i].kind == Member::Kind::frame;
      const double width = is_frame ? inside(items[i].number).width : box.width;
      const double height = is_frame ? inside(items[i].number).height : box.height;
      const GraphPoint middle{(x(box.left) + x(box.right())) / 2 + left, (y(box.top) + y(box.bottom())) / 2 + top};
      here.boxes[items[i]] = {middle.x - width / 2, middle.y - height / 2, width, height};
    }
    std::map<Member, GraphBox> planned;
    for (std::size_t i = 0; i < items.size(); ++i) planned[items[i]] = plan.vertices[i];
    // The shift of a point on the border of a box when rows and columns move: it stays on the border.
    const auto shift = [&](const GraphPoint& point, const Member& item) {
      const GraphBox &before = planned[item], &now = here.boxes[item];
      const GraphPoint went = at(point);
      return GraphPoint{now.left + (point.x - before.left) / before.width * now.width - went.x,
                        now.top + (point.y - before.top) / before.height * now.height - went.y};
    };
    for (std::size_t e = 0; e < ways.size(); ++e) {
      const GraphCurve& old = plan.edges[e];
      GraphCurve& curve = here.curves[ways[e]];
      for (const GraphPoint& point : old.points) curve.points.push_back(at(point));
      const GraphPoint begin = shift(old.points.front(), ways[e].from), end = shift(old.tip, ways[e].to);
      curve.tip = moved(at(old.tip), end.x, end.y);
      for (std::size_t i = 0; i < 2; ++i) {
        GraphPoint &first = curve.points[i], &last = curve.points[curve.points.size() - 1 - i];
        first = moved(first, begin.x, begin.y);
        last = moved(last, end.x, end.y);
      }
    }
    for (const auto& [way, e] : here.ways) {  // arrows that dot was not given
      if (here.curves.contains(way)) continue;
      const GraphPoint from = here.boxes[way.from].center(), to = here.boxes[way.to].center();
      here.curves[way] = {.points = {from, from, to, to}, .tip = to};
    }
    here.width = std::max(x(plan.width) + 2 * left, title.width + left);
    here.height = y(plan.height) + top + left;
  }

  const GraphView& view_;
  const PlanOf plan_of_;
  std::vector<Inside> insides_;  // by number of the frame; at the front the contents of none
};

}  // namespace

GraphLayout ComposedLayouts::of(const GraphView& view) {
  if (view.frames.empty()) return GraphLayout::of(view, options_);
  if (view.edges.size() <= most_arrows_of_dot) {
    try {
      return GraphLayout::of(view, options_);
    } catch (const IoError&) {  // it took too long
    }
  }
  return Composition(view, [this](const GraphView& part) -> const GraphLayout& { return plan_of(part); }).layout();
}

const GraphLayout& ComposedLayouts::plan_of(const GraphView& part) {
  std::string told = in_dot(part, options_, DotFor::layout);
  for (const GraphVertex& vertex : part.vertices) append(told, cat(static_cast<int>(vertex.role), ' '));
  for (const GraphEdge& edge : part.edges) append(told, cat(edge.input, ' '));
  const auto known = plans_.find(told);
  if (known != plans_.end()) return known->second;
  return plans_.emplace(std::move(told), GraphLayout::of(part, options_)).first->second;
}

}  // namespace xgrad::detail
