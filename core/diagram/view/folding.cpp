// Folding a graph for drawing.
#include "folding.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "../../base/error.h"
#include "../../base/formula.h"
#include "../../base/scope.h"
#include "../../base/text.h"
#include "frames.h"
#include "labels.h"
#include "topology.h"

namespace xgrad {
namespace detail {
namespace {

// The value of GraphOptions::fold for each frame; around one that is to be open, those by_depth are open, too.
Indexed<Fold> wishes(const GraphView& view, const GraphOptions& options) {
  Indexed<Fold> result(view.frames.count(), Fold::by_depth);
  if (!options.fold) return result;
  for (int c = 0; c < result.count(); ++c) result[c] = options.fold(view.frames[c]);
  for (int c = result.count(); c-- > 0;) {
    const int parent = view.frames[c].parent;
    if (result[c] == Fold::open && parent != nothing && result[parent] == Fold::by_depth) result[parent] = Fold::open;
  }
  return result;
}

// For each frame the box that it is drawn in: its outermost ancestor (or itself) that is to be closed, by request or
// because it is below `depth`, and need not be open.
Indexed<int> boxes_below(const GraphView& view, int depth, const Indexed<Fold>& wish, const std::set<int>& open) {
  Indexed<int> result;
  for (int c = 0; c < view.frames.count(); ++c) {
    const GraphFrame& frame = view.frames[c];
    const int around = entry_of(result, frame.parent);
    const bool closed = wish[c] == Fold::closed || (wish[c] == Fold::by_depth && frame.level > depth);
    result.push_back(around != nothing ? around : closed && !open.contains(c) ? c : nothing);
  }
  return result;
}

// For each vertex the first vertex in the same box.
Indexed<int> first_in_box(const GraphView& view, const Indexed<int>& box_of) {
  Indexed<int> first_of(view.frames.count(), nothing), becomes;
  for (int v = 0; v < view.vertices.count(); ++v) {
    const int box = entry_of(box_of, view.vertices[v].frame);
    if (box != nothing && first_of[box] == nothing) first_of[box] = v;
    becomes.push_back(box == nothing ? v : first_of[box]);
  }
  return becomes;
}

// By edge: whether it only leads from the parameters of a module, which its first call holds, to another of its calls.
Indexed<bool> reuses_weights(const GraphView& view, const Indexed<int>& box_of) {
  Indexed<bool> result;
  for (const GraphEdge& edge : view.edges) {
    const GraphVertex &from = view.vertices[edge.from], &to = view.vertices[edge.to];
    const int own = entry_of(box_of, from.frame);
    result.push_back(from.role == GraphRole::parameter && own != nothing && own != entry_of(box_of, to.frame) &&
                     numbered(view.frames[own].title).is_call() && lies_within(to.path, from.path));
  }
  return result;
}

// The box of a module in which nothing is yet.
GraphVertex empty_box(const GraphFrame& frame) {
  GraphVertex box{.role = GraphRole::module,
                  .op = frame.title,
                  .path = frame.path,
                  .order = frame.order,
                  .frame = frame.parent,
                  .times = frame.times,
                  .text = {.what = frame.what}};
  if (frame.order == 0 && module_of(frame.path) != frame.path) box.text.remarks.emplace_back("the same parameters");
  return box;
}

// What a vertex counts for in the module around it.
GraphTotals totals_with(const GraphVertex& vertex) {
  GraphTotals totals = vertex.totals;
  totals.operations += is_operation(vertex);
  totals.results = std::max<int>(totals.results, vertex.is_result);
  if (vertex.role == GraphRole::parameter) totals.parameters += vertex.shape->numel();
  return totals;
}

// Every box as one vertex, at the index of the first of its vertices.
GraphView boxed(const GraphView& view, const Indexed<int>& box_of, const Indexed<int>& becomes) {
  GraphView unmerged = view;
  Indexed<GraphVertex>& boxes = unmerged.vertices;
  const auto times_within = [&](int frame, int box) {
    int times = 1;
    for (; frame != box; frame = view.frames[frame].parent) times *= view.frames[frame].times;
    return times;
  };
  for (int v = 0; v < view.vertices.count(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const int box = entry_of(box_of, vertex.frame);
    if (box == nothing) continue;
    if (becomes[v] == v) boxes[v] = empty_box(view.frames[box]);
    GraphVertex& module = boxes[becomes[v]];
    if (const int of = vertex.rule_of; of != nothing && boxes[becomes[of]].path == module.path) module.rule_of = of;
    module.record.absorb(vertex.record);
    module.totals.absorb(totals_with(vertex), times_within(vertex.frame, box) * vertex.times);
    if (vertex.is_result && vertex.order == 0) {
      module.is_result = true;
      module.shape = vertex.shape;
      module.name = vertex.name;
    }
  }
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& from = boxes[becomes[edge.from]];
    const bool leaves = becomes[edge.from] != becomes[edge.to] && view.vertices[edge.to].order == from.order;
    if (from.role == GraphRole::module && leaves && is_operation(view.vertices[edge.from])) {
      from.shape = edge.shape;
      from.record.value = view.vertices[edge.from].record.value;
      from.record.gradient = view.vertices[edge.from].record.gradient;
    }
  }
  return merged(unmerged, becomes, Together::boxed, reuses_weights(view, box_of));
}

// Every module that is to be closed as one vertex. A module that data leaves and enters again would close a cycle: it
// stays open.
FoldedView folded(const GraphView& view, int depth, const Indexed<Fold>& wish) {
  std::set<int> open;
  for (;;) {
    const Indexed<int> box_of = boxes_below(view, depth, wish, open), becomes = first_in_box(view, box_of);
    const Indexed<bool> on_cycle = on_cycles_once_merged(view, becomes, reuses_weights(view, box_of));
    bool closes_cycle = false;
    for (int v = 0; v < view.vertices.count(); ++v) {
      const int box = entry_of(box_of, view.vertices[v].frame);
      if (box != nothing && on_cycle[becomes[v]]) closes_cycle |= open.insert(box).second;
    }
    if (closes_cycle) continue;
    const bool all_open = std::ranges::all_of(box_of, [](int box) { return box == nothing; });
    FoldedView result{.view = all_open ? view : boxed(view, box_of, becomes)};
    for (int v = 0; v < view.vertices.count(); ++v) {
      if (becomes[v] != v) continue;
      result.vertices.push_back(v);
      result.boxes.push_back(entry_of(box_of, view.vertices[v].frame));
    }
    return result;
  }
}

// Operations that only change the arrangement of numbers, and their rules, are drawn as the arrow that they are on, in
// diagrams with modules: unless they have a name, were asked for, or begin or end something.
GraphView without_reshapes(const GraphView& view) {
  const int count = view.vertices.count();
  Indexed<int> inputs(count), source(count, nothing), users(count), becomes;
  for (const GraphEdge& edge : view.edges) {
    ++inputs[edge.to];
    ++users[edge.from];
    source[edge.to] = edge.from;
  }
  for (int v = 0; v < count; ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const bool alone =
        vertex.name.empty() && !vertex.is_result && inputs[v] == 1 && users[v] > 0 && !vertex.totals.overlay;
    const std::string_view rule = rule_in(vertex), op = rule.empty() ? std::string_view(vertex.op) : rule;
    const bool is_move = alone && is_operation(vertex) && operation_kind(op) == OperationKind::rearranges;
    becomes.push_back(is_move ? becomes[source[v]] : v);
  }
  return merged(view, becomes, Together::boxed);
}

// The approximate size of the picture in pixels: every vertex is in the row after its inputs, its gradient next to it.
LabelSize estimated_size(const GraphView& folded, const GraphOptions& options) {
  const GraphView view = reindexed(folded, topological_indices(folded));
  constexpr double gap = 26, title = 46;  // lanes of arrows, too
  const int highest = std::ranges::max(view.vertices, {}, &GraphVertex::order).order;
  const int count = view.vertices.count();
  Indexed<int> row(count), first_use(count, std::numeric_limits<int>::max());
  Indexed<bool> begins(count, true);
  for (const GraphEdge& edge : view.edges) {
    const GraphVertex& to = view.vertices[edge.to];
    begins[edge.to] = false;
    if (highest == 1 && to.order == 1) {
      row[edge.to] = to.rule_of == nothing ? row[edge.from] : row[to.rule_of];
    } else {
      row[edge.to] = std::max(row[edge.to], row[edge.from] + 1);
    }
    first_use[edge.from] = std::min(first_use[edge.from], row[edge.to] - 1);
  }
  for (int v = 0; v < row.count(); ++v) {
    if (begins[v]) row[v] = first_use[v];
  }
  // By frame, the page itself last: the widths of its rows. A frame is as wide in all of its rows as in the widest.
  Indexed<std::map<int, double>> widths(view.frames.count() + 1);
  const auto index_of = [&](int frame) { return frame == nothing ? view.frames.count() : frame; };
  std::map<int, double> heights;
  for (int v = 0; v < view.vertices.count(); ++v) {
    const LabelSize own = size_of_vertex(view.vertices[v], options);
    widths[index_of(view.vertices[v].frame)][row[v]] += own.width + gap;
    heights[row[v]] = std::max(heights[row[v]], own.height + gap);
  }
  LabelSize size{0, 0};
  for (int c = view.frames.count(); c-- > 0;) {
    if (widths[c].empty()) continue;
    const auto width_of = [](const std::pair<const int, double>& each) { return each.second; };
    const double width = std::ranges::max_element(widths[c], {}, width_of)->second + gap;
    const int first = widths[c].begin()->first, last = widths[c].rbegin()->first;
    for (int r = first; r <= last; ++r) widths[index_of(view.frames[c].parent)][r] += width;
    if (view.frames[c].order == 0) heights[first] += title;
  }
  for (const auto& [r, width] : widths.back()) size.width = std::max(size.width, width);
  for (const auto& [r, height] : heights) size.height += height;
  return size;
}

// The view folded to the depth of the options, or to the greatest depth that fits on a page.
GraphView small_enough(const GraphView& view, const GraphOptions& options) {
  const int deepest = deepest_level(view);
  const Indexed<Fold> wish = wishes(view, options);
  const auto at = [&](int depth) {
    GraphView smaller = folded(view, depth, wish).view;
    return options.reshapes || options.expand_rules ? smaller : without_reshapes(smaller);
  };
  if (options.depth != automatic_depth) return at(std::min(options.depth, deepest));
  GraphView smaller = at(deepest);
  for (int depth = deepest; depth-- > 0 && !fits_on_a_page(smaller, options);) smaller = at(depth);
  return smaller;
}

void check_overlay(const GraphOverlay& overlay, std::string_view caller) {
  if (overlay.title.empty()) fail<ValueError>(caller, "the overlay has no title");
  if (bool(overlay.of) != bool(overlay.of_node)) return;
  fail<ValueError>(caller, "the overlay '", printable(overlay.title), "' has ",
                   overlay.of ? "two functions" : "no function", ": it needs one of .of and .of_node");
}

// Includes the value of a vertex in a scale, and writes it into its box.
void add_to_scale(GraphScale& scale, GraphVertex& vertex) {
  const std::optional<double> value = vertex.totals.overlay;
  if (!value) return;
  scale.first = std::min(scale.first, *value);
  scale.last = std::max(scale.last, *value);
  vertex.text.remarks.push_back(
      str(scale.title, ' ', amount_text(*value, scale.unit), vertex.times > 1 ? " each" : ""));
}

}  // namespace

bool fits_on_a_page(const GraphView& view, const GraphOptions& options) {
  if (view.vertices.empty()) return true;
  const LabelSize size = estimated_size(view, options);
  return std::min(size.width, size.height) <= shorter_side && std::max(size.width, size.height) <= longer_side;
}

FoldedView folded_below(GraphView view, int depth) {
  set_levels(view);
  const FoldedView folded_view = folded(view, depth, wishes(view, {}));
  const Indexed<int> indices = topological_indices(folded_view.view);
  FoldedView result{.view = reindexed(folded_view.view, indices), .vertices = indices, .boxes = indices};
  result.frames = Indexed<int>(result.view.frames.count());
  result.view.scale = view.scale;
  for (int i = 0; i < indices.count(); ++i) {
    const int v = folded_view.vertices[i], box = folded_view.boxes[i];
    result.vertices[indices[i]] = v;
    result.boxes[indices[i]] = box;
    GraphVertex& vertex = result.view.vertices[indices[i]];
    if (box != nothing && view.scale) add_to_scale(*result.view.scale, vertex);
    int before = box == nothing ? view.vertices[v].frame : view.frames[box].parent;
    for (int now = vertex.frame; now != nothing; now = result.view.frames[now].parent) {
      result.frames[now] = std::exchange(before, view.frames[before].parent);
    }
  }
  return result;
}

}  // namespace detail

void GraphRecord::absorb(const GraphRecord& part) {
  first_nan |= part.first_nan;
  step = std::max(step, part.step);
  gradient_step = std::max(gradient_step, part.gradient_step);
}

void GraphTotals::absorb(const GraphTotals& part, int times) {
  saved_bytes += times * part.saved_bytes;
  operations += times * part.operations;
  results += times * part.results;
  parameters += times * part.parameters;
  if (part.overlay) overlay = overlay.value_or(0) + times * *part.overlay;
}

GraphView GraphView::of(const Tensors& results, const GraphOptions& options, std::string_view caller) {
  if (results.empty()) fail<GraphError>(caller, "no tensor was given");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) fail<GraphError>(caller, "tensor ", i, " is undefined");
  }
  if (options.depth < automatic_depth) fail<ValueError>(caller, "depth ", options.depth, " is negative");
  if (options.overlay) detail::check_overlay(*options.overlay, caller);
  GraphView view = detail::everything(results, options, caller);
  if (options.roll_up) view = detail::rolled_up(std::move(view));
  const bool flat = view.frames.empty();  // nothing can be folded
  if (!flat) view = detail::small_enough(view, options);
  if (const std::int64_t count = std::ssize(view.vertices); count > options.max_nodes) {
    fail<LimitError>(caller, count, " vertices to draw, max_nodes is ", options.max_nodes,
                     flat ? "; there is no module to fold: raise .max_nodes"
                          : "; fold modules with .depth or .fold, or raise .max_nodes");
  }
  view = detail::reindexed(view, detail::topological_indices(view));
  if (options.overlay) {
    view.scale = GraphScale{.title = options.overlay->title, .unit = options.overlay->unit};
    for (GraphVertex& vertex : view.vertices) detail::add_to_scale(*view.scale, vertex);
  }
  return view;
}

}  // namespace xgrad
