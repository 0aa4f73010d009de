// The positions of items in the layers of a diagram.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "../view/topology.h"
#include "steps.h"

namespace xgrad::detail {
namespace {

constexpr double frame_margin = 10;  // between a frame and its contents
constexpr double above_title = 4;
constexpr double below_frame = 5;

class Placer {
 public:
  Placer(const Layers& layers, const Ordering& ordering) : layers_(layers), ordering_(ordering) {}

  Placing place() && {
    find_ports();
    place_across();
    place_along();
    return std::move(placing_);
  }

 private:
  const Item& at(int item) const { return layers_.items[item]; }

  // ---- Ports ----

  struct Slot {
    double order;
    Indexed<int> edges;
    bool is_middle;
  };

  void find_ports() {
    const GraphView& view = layers_.view;
    placing_.ports = Indexed<Ports>(view.edges.count());
    Indexed<Indexed<int>> edges_above(view.vertices.count()), edges_below(view.vertices.size());
    for (int e = 0; e < view.edges.count(); ++e) {
      if (layers_.is_flat(view.edges[e])) continue;
      edges_below[layers_.upper(view.edges[e])].push_back(e);
      edges_above[layers_.lower(view.edges[e])].push_back(e);
    }
    Indexed<int> positions(layers_.items.count());
    const auto note_positions = [&](int layer) {
      if (layer < 0 || layer >= layers_.count) return;
      const Indexed<int>& row = ordering_.layers[layer];
      for (int i = 0; i < row.count(); ++i) positions[row[i]] = i;
    };
    for (int v = 0; v < view.vertices.count(); ++v) {
      note_positions(at(v).first - 1);
      set_ports(v, edges_above[v], &Ports::lower,
                [&](int e) { return positions[layers_.links[layers_.ways[e].back()].upper]; });
      note_positions(at(v).first + 1);
      set_ports(v, edges_below[v], &Ports::upper,
                [&](int e) { return positions[layers_.links[layers_.ways[e].front()].lower]; });
    }
  }

  // Each head of an arrow has a port; all arrows that begin at this side of the box have one together.
  template <class Position>
  void set_ports(int v, const Indexed<int>& edges, double Ports::*end, Position&& position_of) {
    Indexed<Slot> slots;
    Slot starts{0, {}, true};
    for (const int e : edges) {
      if (layers_.view.edges[e].to == v) {
        const int argument = layers_.arguments[e];
        slots.push_back({double(argument == nothing ? position_of(e) : argument), {e}, layers_.main_inputs[v] == e});
      } else {
        starts.edges.push_back(e);
        starts.order += position_of(e);
      }
    }
    if (!starts.edges.empty() && !slots.empty()) {
      for (Slot& slot : slots) slot.is_middle = false;
      starts.order /= double(starts.edges.size());
      slots.push_back(starts);
    }
    if (slots.size() < 2) return;
    std::ranges::stable_sort(slots, {}, &Slot::order);
    const double last = double(slots.size() - 1);
    const auto middle_slot = std::ranges::find(slots, true, &Slot::is_middle);
    const double middle = middle_slot == slots.end() ? last / 2 : double(middle_slot - slots.begin());
    constexpr double corner = 8;
    const double spacing =
        std::min(at(v).across / (last + 2), (at(v).across / 2 - corner) / std::max(middle, last - middle));
    for (int i = 0; i < slots.count(); ++i) {
      for (const int e : slots[i].edges) placing_.ports[e].*end = (double(i) - middle) * spacing;
    }
  }

  // ---- Across ----

  // Two units for each pixel.
  static std::int64_t units(double pixels) { return static_cast<std::int64_t>(std::ceil(2 * pixels)); }
  static double pixels(std::int64_t units) { return double(units) / 2; }

  // The variables are the items (for frames their left sides), then the right sides of frames, then the page's sides.
  int left_side(int frame) const { return frame == nothing ? page() : layers_.frame_item(frame); }
  int right_side(int frame) const { return frame == nothing ? page() + 1 : layers_.items.count() + frame; }
  int page() const { return layers_.items.count() + layers_.view.frames.count(); }

  // A side of an item: a variable, and how far the side is from it.
  struct Side {
    int variable;
    double distance = 0;
  };
  Side left_of(int item) const {
    return at(item).kind == ItemKind::frame ? Side{left_side(at(item).index)} : Side{item, at(item).across / 2};
  }
  Side right_of(int item) const {
    return at(item).kind == ItemKind::frame ? Side{right_side(at(item).index)} : Side{item, at(item).across / 2};
  }

  void separate(const Side& left, const Side& right, double distance) {
    distances_.push_back({left.variable, right.variable, units(left.distance + distance + right.distance), 0});
  }

  static double distance_between(const Item& a, const Item& b) {
    if (a.kind == ItemKind::title || b.kind == ItemKind::title) return 5;
    if (a.kind == ItemKind::lane || b.kind == ItemKind::lane) return 12;
    return 18;
  }

  void add_distances(int frame) {
    const Indexed<int>& content = ordering_.in_frame(frame);
    const int begin = frame == nothing ? 0 : at(layers_.frame_item(frame)).first;
    const int end = frame == nothing ? layers_.count : at(layers_.frame_item(frame)).last + 1;
    Indexed<Indexed<int>> rows(end - begin);
    for (const int p : content) {
      for (int layer = at(p).first; layer <= at(p).last; ++layer) rows[layer - begin].push_back(p);
    }
    std::set<std::pair<int, int>> neighbours;
    std::set<int> firsts, lasts;
    for (const Indexed<int>& row : rows) {
      if (row.empty()) continue;
      firsts.insert(row.front());
      lasts.insert(row.back());
      for (int i = 1; i < row.count(); ++i) neighbours.emplace(row[i - 1], row[i]);
    }
    for (const auto& [left, right] : neighbours) {
      separate(right_of(left), left_of(right), distance_between(at(left), at(right)));
    }
    const double margin = frame == nothing ? 0 : frame_margin;
    for (const int p : firsts) separate({left_side(frame)}, left_of(p), margin);
    for (const int p : lasts) separate(right_of(p), {right_side(frame)}, margin);
    constexpr int weight_of_width = 2;
    distances_.push_back({left_side(frame), right_side(frame), 0, weight_of_width});
  }

  void draw_together(int& count, int one, double at_one, int other, double at_other, std::int64_t weight) {
    distances_.push_back({count, one, -units(at_one), weight});
    distances_.push_back({count, other, -units(at_other), weight});
    ++count;
  }

  void place_across() {
    for (int frame = nothing; frame < layers_.view.frames.count(); ++frame) add_distances(frame);
    int count = page() + 2;
    for (const Link& link : layers_.links) {
      const bool is_main = layers_.main_inputs[layers_.view.edges[link.edge].to] == link.edge;
      const bool lanes = at(link.upper).kind == ItemKind::lane && at(link.lower).kind == ItemKind::lane;
      const std::int64_t weight = is_main ? 12 : lanes ? 10 : 3;
      const Ports& ports = placing_.ports[link.edge];
      draw_together(count, link.upper, at(link.upper).kind == ItemKind::vertex ? ports.upper : 0, link.lower,
                    at(link.lower).kind == ItemKind::vertex ? ports.lower : 0, weight);
    }
    for (const GraphEdge& edge : layers_.view.edges) {
      if (layers_.is_flat(edge)) draw_together(count, edge.from, 0, edge.to, 0, 2);
    }
    const Indexed<std::int64_t> x = as_near_as_possible(count, page(), distances_);
    for (int p = 0; p < layers_.items.count(); ++p) placing_.across.push_back(pixels(x[p]));
    for (int c = 0; c < layers_.view.frames.count(); ++c) {
      placing_.frames_across.push_back({pixels(x[left_side(c)]), pixels(x[right_side(c)])});
    }
    placing_.page_across = pixels(x[page() + 1]);
  }

  // ---- Along ----

  void place_along() {
    const int frames = layers_.view.frames.count();
    Indexed<double> height(layers_.count), gap(layers_.count);
    for (const Item& item : layers_.items) {
      height[item.first] = std::max(height[item.first], item.along);
    }
    for (const Link& link : layers_.links) gap[link.gap] = std::max(gap[link.gap], gap_for(link));
    double y = 0;
    for (const GraphEdge& edge : layers_.view.edges) {  // those within a layer may have to run over others
      if (!layers_.is_flat(edge)) continue;
      const int layer = at(edge.from).first;
      double& free = layer > 0 ? gap[layer - 1] : y;
      free = std::max(free, 20.0);
    }
    Indexed<bool> begins(layers_.count);  // whether a frame begins there
    Indexed<double> ends(frames);         // of its contents
    Indexed<Indexed<int>> ending(layers_.count);
    for (int c = frames; c-- > 0;) {
      const Item& frame = at(layers_.frame_item(c));
      begins[frame.first] = true;
      ending[frame.last].push_back(c);
    }
    placing_.layers = Indexed<Extent>(layers_.count);
    placing_.frames_along = Indexed<Extent>(frames);
    double end_of_frames = 0;
    for (int layer = 0; layer < layers_.count; ++layer) {
      y = std::max(y, end_of_frames + (layer > 0 ? below_frame : 0)) + (begins[layer] ? above_title : 0);
      placing_.layers[layer] = {y, y + height[layer]};
      y += height[layer];
      end_of_frames = y;
      for (const int c : ending[layer]) {  // inner ones first
        const Item& frame = at(layers_.frame_item(c));
        const double end = std::max(y, ends[c]) + frame_margin;
        placing_.frames_along[c] = {placing_.layers[frame.first].begin - above_title, end};
        end_of_frames = std::max(end_of_frames, end);
        if (const int parent = layers_.view.frames[c].parent; parent != nothing)
          ends[parent] = std::max(ends[parent], end);
      }
      y += gap[layer];
    }
    placing_.page_along = std::max(end_of_frames, layers_.count > 0 ? placing_.layers.back().end : 0);
  }

  // The farther an arrow leads across, the more space there is to turn.
  double gap_for(const Link& link) const {
    const Ports& ports = placing_.ports[link.edge];
    const bool from_box = at(link.upper).kind == ItemKind::vertex, to_box = at(link.lower).kind == ItemKind::vertex;
    const double way = std::abs(placing_.across[link.upper] + (from_box ? ports.upper : 0) -
                                placing_.across[link.lower] - (to_box ? ports.lower : 0));
    const double straight = from_box && to_box ? 22 : to_box || from_box ? 14 : 6;
    return way < 1 ? straight : std::clamp(14 + 0.08 * way, straight, 40.0);
  }

  const Layers& layers_;
  const Ordering& ordering_;
  Indexed<Distance> distances_;
  Placing placing_;
};

}  // namespace

Placing placed(const Layers& layers, const Ordering& ordering) { return Placer(layers, ordering).place(); }

}  // namespace xgrad::detail
