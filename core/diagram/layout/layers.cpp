// The layers of a diagram and their items.
#include <algorithm>
#include <map>
#include <utility>

#include "../../base/assert.h"
#include "../../base/formula.h"
#include "../view/topology.h"
#include "steps.h"

namespace xgrad::detail {
namespace {

// Whether the operands differ in meaning. Readers do not know those of rules.
bool has_ordered_operands(const GraphVertex& vertex) {
  return vertex.role == GraphRole::operation && vertex.order == 0 &&
         operation_kind(vertex.op) != OperationKind::symmetric;
}

}  // namespace

Layers::Layers(const GraphView& drawn, const GraphOptions& options, const Indexed<int>& rank_of_vertex)
    : view(drawn), sideways(options.direction == Direction::left_to_right) {
  XGRAD_ASSERT(rank_of_vertex.size() == view.vertices.size());
  find_layers(options, rank_of_vertex);
  find_operands();
  find_lanes();
}

void Layers::find_layers(const GraphOptions& options, const Indexed<int>& rank) {
  const int ranks = rank.empty() ? 0 : *std::ranges::max_element(rank) + 1;

  items = Indexed<Item>(view.vertices.count() + 2 * view.frames.count());
  Indexed<int> titles_before(ranks);                 // layers of titles before each rank
  Indexed<int> title_depth(view.frames.count(), 1);  // how many of them the frame and those in it need
  Indexed<std::pair<int, int>> span_of(view.frames.count(), {ranks, -1});
  const auto hold = [&](int frame, std::pair<int, int> span) {
    if (frame == nothing) return;
    span_of[frame].first = std::min(span_of[frame].first, span.first);
    span_of[frame].second = std::max(span_of[frame].second, span.second);
  };
  for (int v = 0; v < view.vertices.count(); ++v) hold(view.vertices[v].frame, {rank[v], rank[v]});
  for (int c = view.frames.count(); c-- > 0;) hold(view.frames[c].parent, span_of[c]);  // parents come first
  for (int c = view.frames.count(); c-- > 0;) {
    const int parent = view.frames[c].parent;
    if (parent != nothing && span_of[parent].first == span_of[c].first) {
      title_depth[parent] = std::max(title_depth[parent], title_depth[c] + 1);
    }
    titles_before[span_of[c].first] = std::max(titles_before[span_of[c].first], title_depth[c]);
  }

  Indexed<int> layer_of_rank(ranks);
  for (int r = 0; r < ranks; ++r) {
    count += titles_before[r];
    layer_of_rank[r] = count++;
  }
  for (int v = 0; v < view.vertices.count(); ++v) {
    const LabelSize size = turned(size_of_vertex(view.vertices[v], options));
    const int layer = layer_of_rank[rank[v]];
    items[v] = {ItemKind::vertex, v, view.vertices[v].frame, layer, layer, size.width, size.height};
  }
  for (int c = 0; c < view.frames.count(); ++c) {
    const int first = layer_of_rank[span_of[c].first] - title_depth[c];
    items[frame_item(c)] = {ItemKind::frame, c, view.frames[c].parent, first, layer_of_rank[span_of[c].second]};
    const LabelSize size = turned(size_of_title(view.frames[c]));
    items[title_item(c)] = {ItemKind::title, c, c, first, first, size.width, size.height};
  }
}

void Layers::find_operands() {
  const int vertices = view.vertices.count();
  Indexed<int> depths(vertices), operands(vertices), deepest(vertices);
  main_inputs = Indexed<int>(vertices, nothing);
  arguments = Indexed<int>(view.edges.count(), nothing);
  for (int e = 0; e < view.edges.count(); ++e) {  // they are sorted by results and inputs
    const GraphEdge& edge = view.edges[e];
    if (kind_of(view, edge) == EdgeKind::borrowed) continue;
    if (has_ordered_operands(view.vertices[edge.to])) arguments[e] = operands[edge.to]++;
    const int depth = depths[edge.from] + 1;
    if (depth > depths[edge.to]) {
      depths[edge.to] = depth;
      main_inputs[edge.to] = e;
      deepest[edge.to] = 1;
    } else if (depth == depths[edge.to]) {
      ++deepest[edge.to];
    }
  }
  for (int v = 0; v < vertices; ++v) {
    if (deepest[v] > 1) main_inputs[v] = nothing;
  }
}

// An arrow enters the frames of its lower end through their upper side if they begin below its upper end.
int Layers::frame_of_lane(int layer, int upper, int lower) const {
  const auto holds = [&](int frame) {
    int around = view.vertices[upper].frame;
    while (around > frame) around = view.frames[around].parent;
    return around == frame;
  };
  for (int frame = view.vertices[lower].frame; frame != nothing; frame = view.frames[frame].parent) {
    const Item& item = items[frame_item(frame)];
    if ((item.first > items[upper].first && layer >= item.first) || holds(frame)) return frame;
  }
  return nothing;
}

void Layers::find_lanes() {
  ways = Indexed<Indexed<int>>(view.edges.count());
  struct LaneKey {
    int source, frame, first, last;
    EdgeKind kind;
    GraphFlow flow;
    auto operator<=>(const LaneKey&) const = default;
  };
  std::map<LaneKey, int> lanes;
  std::map<std::pair<int, int>, int> into_lanes;
  for (int e = 0; e < view.edges.count(); ++e) {
    const GraphEdge& edge = view.edges[e];
    if (is_flat(edge)) continue;
    const int from = upper(edge), to = lower(edge);
    const bool is_main = main_inputs[edge.to] == e;
    int before = from;
    const auto link_to = [&](int item, int gap) {
      int link = links.count();
      if (items[item].kind == ItemKind::lane) link = into_lanes.try_emplace({before, item}, link).first->second;
      if (link == links.count()) links.push_back({before, item, gap, e});
      ways[e].push_back(link);
      before = item;
    };
    for (int layer = items[from].first + 1; layer < items[to].first;) {
      const int frame = frame_of_lane(layer, from, to);
      int last = items[to].first - 1;
      for (int around = view.vertices[to].frame; around != nothing; around = view.frames[around].parent) {
        const int entered = items[frame_item(around)].first;
        if (entered > layer) last = std::min(last, entered - 1);
      }
      const int next = items.count();
      int lane = next;
      if (above(edge)) {
        const int end = is_leaf(view.vertices[from]) ? nothing : last;
        const LaneKey key{from, frame, layer, end, kind_of(view, edge), edge.flow};
        lane = lanes.try_emplace(key, next).first->second;
      }
      if (lane == next) {
        items.push_back({ItemKind::lane, e, frame, layer, last});
        items.back().side_path = !is_main;
      }
      items[lane].last = std::max(items[lane].last, last);
      items[lane].side_path &= !is_main;
      link_to(lane, layer - 1);
      layer = last + 1;
    }
    link_to(to, items[to].first - 1);
  }
}

}  // namespace xgrad::detail
