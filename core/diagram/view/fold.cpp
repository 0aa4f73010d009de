// What is drawn of a graph: modules that are built alike as one, modules that are nested too deep as boxes.
#include "fold.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../../watch/formula.h"
#include "collect.h"
#include "decorate.h"
#include "order.h"

namespace xgrad {
namespace {

using namespace detail;

constexpr std::size_t fits_on_a_page = 64;  // edges

// For each frame its ancestor (or itself) at `level`; nothing for those above it.
std::vector<int> ancestors_at(const std::vector<GraphFrame>& frames, int level) {
  std::vector<int> result;
  for (std::size_t c = 0; c < frames.size(); ++c) {
    result.push_back(frames[c].level < level    ? nothing
                     : frames[c].level == level ? static_cast<int>(c)
                                                : result[frames[c].parent]);
  }
  return result;
}

// The cycles that there are once each vertex is drawn as the one that it becomes, of the edges that are not hidden.
template <class Hidden>
std::vector<int> cycles_of(const GraphView& view, const std::vector<int>& becomes, const Hidden& hidden) {
  std::vector<std::pair<int, int>> arrows;
  for (const GraphEdge& edge : view.edges) {
    if (!hidden(edge)) arrows.emplace_back(becomes[edge.from], becomes[edge.to]);
  }
  return cycles(static_cast<int>(view.vertices.size()), arrows);
}

// A view of the vertices v with becomes[v] == v; the others are drawn as the vertex that they become. Left out are
// edges for which `hidden` says so, new loops, repeated edges, and frames that are now empty.
template <class Hidden>
GraphView merged(const GraphView& view, const std::vector<int>& becomes, const Hidden& hidden) {
  GraphView result;
  std::vector<int> number(view.vertices.size(), nothing);
  std::vector<bool> used(view.frames.size());
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    if (std::cmp_not_equal(becomes[v], v)) continue;
    number[v] = static_cast<int>(result.vertices.size());
    result.vertices.push_back(view.vertices[v]);
    for (int c = view.vertices[v].frame; c != nothing && !used[c]; c = view.frames[c].parent) used[c] = true;
  }
  std::vector<int> frame_number(view.frames.size(), nothing);
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    if (!used[c]) continue;
    frame_number[c] = static_cast<int>(result.frames.size());
    GraphFrame& frame = result.frames.emplace_back(view.frames[c]);
    if (frame.parent != nothing) frame.parent = frame_number[frame.parent];
  }
  for (GraphVertex& vertex : result.vertices) {
    if (vertex.frame != nothing) vertex.frame = frame_number[vertex.frame];
  }
  for (const GraphEdge& edge : view.edges) {
    const int from = becomes[edge.from];
    const int to = becomes[edge.to];
    if (hidden(edge) || (from == to && edge.from != edge.to)) continue;
    GraphEdge& drawn = result.edges.emplace_back(edge);
    drawn.from = number[from];
    drawn.to = number[to];
    if (result.vertices[drawn.to].role == GraphRole::module) drawn.input = 0;
  }
  const auto key = [](const GraphEdge& edge) { return std::tuple(edge.to, edge.input, edge.from); };
  std::ranges::stable_sort(result.edges, {}, key);
  const auto alike = [&](const GraphEdge& a, const GraphEdge& b) { return key(a) == key(b); };
  for (std::size_t e = result.edges.size(); e-- > 1;) {
    if (alike(result.edges[e - 1], result.edges[e])) result.edges[e - 1].dimmed &= result.edges[e].dimmed;
  }
  result.edges.erase(std::unique(result.edges.begin(), result.edges.end(), alike), result.edges.end());
  return result;
}

// "blocks" and 3 for "blocks.3"; no stem if there is no number.
std::pair<std::string_view, std::string_view> stem_and_number(std::string_view title) {
  const std::size_t dot = title.rfind('.');
  const std::string_view number = dot == title.npos ? std::string_view() : title.substr(dot + 1);
  if (number.empty() || number.find_first_not_of("0123456789") != number.npos) return {};
  return {title.substr(0, dot), number};
}

// How the vertices of a frame are built and connected. Two frames with equal texts differ in their names only.
std::string structure(const GraphView& view, int frame, const std::vector<int>& members,
                      const std::vector<std::pair<std::size_t, std::size_t>>& edges_into) {
  const std::string& path = view.frames[frame].path;
  std::unordered_map<int, std::size_t> number;
  for (const int v : members) number.emplace(v, number.size());
  std::string text;
  for (const int v : members) {
    const GraphVertex& vertex = view.vertices[v];
    const std::string_view inner = std::string_view(vertex.path).substr(std::min(path.size(), vertex.path.size()));
    append(text, cat(static_cast<int>(vertex.role), '\0', vertex.op, '\0', vertex.name, '\0', inner, '\0',
                     *vertex.shape, '\0', vertex.number ? cat(*vertex.number) : std::string()));
    for (const auto& [name, value] : vertex.attributes) append(text, cat('\0', name, ' ', value));
    const auto [first, last] = edges_into[v];
    for (std::size_t e = first; e < last; ++e) {
      append(text, cat(' ', number.try_emplace(view.edges[e].from, number.size()).first->second));
    }
    text += '\n';
  }
  return text;
}

// Which blocks at a level stand for which.
struct RollUp {
  std::vector<int> becomes;         // by vertex
  std::vector<int> block_of;        // by frame: the block around it
  std::vector<int> representative;  // by block: the first that is built alike
  std::vector<int> last;            // by representative: the last that is built alike
  std::vector<int> times;

  // What leads from one block to the next.
  bool hides(const GraphView& view, const GraphEdge& edge) const {
    const auto first_of = [&](int v) {
      const int c = view.vertices[v].frame;
      return c == nothing || block_of[c] == nothing ? nothing : representative[block_of[c]];
    };
    const auto block = [&](int v) { return block_of[view.vertices[v].frame]; };
    const int first = first_of(edge.from);
    return first != nothing && first == first_of(edge.to) && block(edge.from) != block(edge.to);
  }
};

RollUp roll_up_at(const GraphView& view, int level, const std::set<int>& apart) {
  RollUp result{.becomes = std::vector<int>(view.vertices.size()),
                .block_of = ancestors_at(view.frames, level),
                .representative = std::vector<int>(view.frames.size(), nothing),
                .last = std::vector<int>(view.frames.size(), nothing),
                .times = std::vector<int>(view.frames.size(), 1)};
  std::iota(result.becomes.begin(), result.becomes.end(), 0);
  std::vector<std::vector<int>> members(view.frames.size());
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    if (const int c = view.vertices[v].frame; c != nothing && result.block_of[c] != nothing) {
      members[result.block_of[c]].push_back(static_cast<int>(v));
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> edges_into(view.vertices.size());
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    auto& [first, last] = edges_into[view.edges[e].to];
    if (last == 0) first = e;
    last = e + 1;
  }

  std::map<std::tuple<int, int, std::string>, std::vector<int>> families;
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    const GraphFrame& frame = view.frames[c];
    const std::string_view stem = stem_and_number(frame.title).first;
    if (members[c].empty() || stem.empty() || apart.contains(static_cast<int>(c))) continue;
    families[{frame.parent, frame.order, std::string(stem)}].push_back(static_cast<int>(c));
  }
  for (auto& [family, siblings] : families) {
    std::ranges::sort(siblings, {}, [&](int c) { return members[c].front(); });
    int first = nothing;
    std::string first_structure;
    for (const int c : siblings) {
      std::string own = structure(view, c, members[c], edges_into);
      if (first == nothing || own != first_structure) {
        first = c;
        first_structure = std::move(own);
      } else {
        ++result.times[first];
        result.last[first] = c;
        for (std::size_t i = 0; i < members[c].size(); ++i) result.becomes[members[c][i]] = members[first][i];
      }
      result.representative[c] = first;
    }
  }
  return result;
}

// Of neighbouring frames at `level` that are built alike only the first remains, unless that would close a cycle.
GraphView rolled_up_at(GraphView view, int level) {
  std::set<int> apart;  // blocks that stay as they are
  RollUp roll = roll_up_at(view, level, apart);
  const auto hidden = [&](const GraphEdge& edge) { return roll.hides(view, edge); };
  for (bool cyclic = true; cyclic;) {
    cyclic = false;
    const std::vector<int> on_cycle = cycles_of(view, roll.becomes, hidden);
    for (std::size_t v = 0; v < view.vertices.size(); ++v) {
      const int c = view.vertices[v].frame, block = c == nothing ? nothing : roll.block_of[c];
      if (block == nothing || on_cycle[roll.becomes[v]] == nothing || roll.representative[block] == nothing) continue;
      const bool alone = roll.times[roll.representative[block]] == 1;
      if (!alone) cyclic |= apart.insert(block).second;
    }
    if (cyclic) roll = roll_up_at(view, level, apart);
  }
  std::vector<int> measured(view.vertices.size());  // how many numbers of the overlay its number is the sum of
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    GraphVertex& first = view.vertices[roll.becomes[v]];
    first.is_result |= vertex.is_result;
    first.dimmed &= vertex.dimmed;
    if (!vertex.overlay) continue;
    if (&first != &vertex) first.overlay = first.overlay.value_or(0) + *vertex.overlay;
    ++measured[roll.becomes[v]];
  }
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    if (measured[v] > 1) *view.vertices[v].overlay /= measured[v];
  }
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    if (roll.last[c] == nothing) continue;
    view.frames[c].times *= roll.times[c];
    std::string& title = view.frames[c].title;
    const std::string& other = view.frames[roll.last[c]].title;  // a backward pass begins with the last one
    const bool ascending = std::pair(title.size(), title) < std::pair(other.size(), other);
    title = cat(ascending ? title : other, " \u2026 ", stem_and_number(ascending ? other : title).second);
  }
  return merged(view, roll.becomes, hidden);
}

// What GraphOptions::fold says of each frame; around one that is to be open, those by_depth are open, too.
std::vector<Fold> wishes(const GraphView& view, const GraphOptions& options) {
  std::vector<Fold> result(view.frames.size(), Fold::by_depth);
  if (!options.fold) return result;
  for (std::size_t c = 0; c < result.size(); ++c) result[c] = options.fold(view.frames[c]);
  for (std::size_t c = result.size(); c-- > 0;) {
    const int parent = view.frames[c].parent;
    if (result[c] == Fold::open && parent != nothing && result[parent] == Fold::by_depth) result[parent] = Fold::open;
  }
  return result;
}

// For each frame the box that it is drawn in: its outermost ancestor (or itself) that is to be closed, by a wish or
// as it lies below `depth`, and need not be open.
std::vector<int> boxes_below(const GraphView& view, int depth, const std::vector<Fold>& wish,
                             const std::set<int>& open) {
  std::vector<int> result;
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    const GraphFrame& frame = view.frames[c];
    const int around = frame.parent == nothing ? nothing : result[frame.parent];
    const bool closed = wish[c] == Fold::closed || (wish[c] == Fold::by_depth && frame.level > depth);
    const bool box = closed && !open.contains(static_cast<int>(c));
    result.push_back(around != nothing ? around : box ? static_cast<int>(c) : nothing);
  }
  return result;
}

// For each vertex the first of those that are drawn in the same box.
std::vector<int> first_in_box(const GraphView& view, const std::vector<int>& box_of) {
  std::vector<int> first_of(view.frames.size(), nothing), becomes;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const int c = view.vertices[v].frame, box = c == nothing ? nothing : box_of[c];
    if (box != nothing && first_of[box] == nothing) first_of[box] = static_cast<int>(v);
    becomes.push_back(box == nothing ? static_cast<int>(v) : first_of[box]);
  }
  return becomes;
}

// Every box as one vertex, which stands where the first of its vertices stood.
GraphView boxed(const GraphView& view, const std::vector<int>& box_of, const std::vector<int>& becomes) {
  std::vector<GraphVertex> boxes = view.vertices;
  const auto times_within = [&](int frame, int box) {
    int times = 1;
    for (; frame != box; frame = view.frames[frame].parent) times *= view.frames[frame].times;
    return times;
  };
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const int box = vertex.frame == nothing ? nothing : box_of[vertex.frame];
    if (box == nothing) continue;
    if (std::cmp_equal(becomes[v], v)) {
      const GraphFrame& frame = view.frames[box];
      boxes[v] = {.role = GraphRole::module,
                  .op = frame.title,
                  .name = {},
                  .path = frame.path,
                  .order = frame.order,
                  .frame = frame.parent,
                  .times = frame.times,
                  .what = frame.what,
                  .dimmed = true};
    }
    GraphVertex& module = boxes[becomes[v]];
    const int times = times_within(vertex.frame, box);
    module.dimmed &= vertex.dimmed;
    if (vertex.overlay) module.overlay = module.overlay.value_or(0) + times * *vertex.overlay;
    module.kept_bytes += times * vertex.kept_bytes;
    module.results += times * vertex.is_result;
    module.operations += times * is_operation(vertex);
    module.step = std::max(module.step, vertex.step);
    module.gradient_step = std::max(module.gradient_step, vertex.gradient_step);
    if (vertex.role == GraphRole::parameter) module.parameters += times * vertex.shape->numel();
  }
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& from = boxes[becomes[edge.from]];
    const bool leaves = becomes[edge.from] != becomes[edge.to] && view.vertices[edge.to].order == from.order;
    if (from.role == GraphRole::module && leaves && is_operation(view.vertices[edge.from])) {
      from.shape = edge.shape;
      from.value = view.vertices[edge.from].value;
      from.gradient = view.vertices[edge.from].gradient;
    }
  }
  const GraphView whole{.vertices = std::move(boxes), .edges = view.edges, .frames = view.frames};
  return merged(whole, becomes, [](const GraphEdge&) { return false; });
}

// Of neighbours that are built alike (blocks.0, blocks.1, ...) at each level only the first.
GraphView rolled_up(GraphView view) {
  const int deepest = deepest_level(view);
  for (int level = 1; level <= deepest; ++level) view = rolled_up_at(std::move(view), level);
  return view;
}

// Every module that is to be closed as one vertex. One that is left and entered again would close a cycle: it stays
// open.
GraphView folded(const GraphView& view, int depth, const std::vector<Fold>& wish) {
  std::set<int> open;
  for (;;) {
    const std::vector<int> box_of = boxes_below(view, depth, wish, open), becomes = first_in_box(view, box_of);
    if (std::ranges::all_of(box_of, [](int box) { return box == nothing; })) return view;
    const std::vector<int> on_cycle = cycles_of(view, becomes, [](const GraphEdge&) { return false; });
    const std::size_t open_before = open.size();
    for (std::size_t v = 0; v < view.vertices.size(); ++v) {
      const int c = view.vertices[v].frame, box = c == nothing ? nothing : box_of[c];
      if (box != nothing && on_cycle[becomes[v]] != nothing) open.insert(box);
    }
    if (open.size() == open_before) return boxed(view, box_of, becomes);
  }
}

GraphView small_enough(const GraphView& view, const GraphOptions& options) {
  const int deepest = deepest_level(view);
  const std::vector<Fold> wish = wishes(view, options);
  if (options.depth != automatic_depth) return folded(view, std::min(options.depth, deepest), wish);
  GraphView smaller = folded(view, deepest, wish);
  for (int depth = deepest; depth-- > 0 && smaller.edges.size() > fits_on_a_page;) {
    smaller = folded(view, depth, wish);
  }
  return smaller;
}

// "; 612 at depth 2, 48 at depth 1", and what else would help: `view` is what was too large before it was folded.
std::string smaller_views(const GraphView& view, const GraphOptions& options, std::int64_t count) {
  std::string text;
  const auto add = [&](std::int64_t fewer, const auto&... how) {
    if (fewer < count) append(text, cat(text.empty() ? "; " : ", ", fewer, how...));
  };
  const int deepest = deepest_level(view);
  const std::vector<Fold> wish = wishes(view, options);
  const int depth = options.depth == automatic_depth ? 0 : std::min(options.depth, deepest);
  for (int d = depth; d-- > 0;) add(std::ssize(folded(view, d, wish).vertices), " at depth ", d);
  if (!options.roll_up) {
    GraphOptions with = options;
    with.roll_up = true;
    add(std::ssize(small_enough(rolled_up(view), with).vertices), " with .roll_up");
  }
  if (options.fold) {
    GraphOptions without = options;
    without.fold = nullptr;
    add(std::ssize(small_enough(view, without).vertices), " without .fold");
  }
  return text;
}

// What is known of the operations: of one itself both equations, of its gradient rule, called tanh', the derivative.
void add_equations(GraphView& view) {
  std::unordered_map<std::string_view, Formula> known;
  for (GraphVertex& vertex : view.vertices) {
    if (!is_operation(vertex)) continue;
    std::string_view op = vertex.op;
    const bool is_rule = vertex.role == GraphRole::gradient_operation && op.ends_with('\'');
    if (is_rule) op.remove_suffix(1);
    const auto [place, is_new] = known.try_emplace(op);
    if (is_new) place->second = formula_of(op).value_or(Formula());
    if (!is_rule) vertex.formula = place->second.value;
    vertex.derivative = place->second.derivative;
  }
}

// Within how many frames a frame is, itself included.
int level_of(const GraphView& view, const GraphFrame& frame) {
  int level = 1;
  for (int around = frame.parent; around != nothing; around = view.frames[around].parent) ++level;
  return level;
}

}  // namespace

int detail::deepest_level(const GraphView& view) {
  int deepest = 0;
  for (const GraphFrame& frame : view.frames) deepest = std::max(deepest, level_of(view, frame));
  return deepest;
}

GraphView detail::folded_below(GraphView view, int depth) {
  for (GraphFrame& frame : view.frames) frame.level = level_of(view, frame);
  if (depth < deepest_level(view)) view = folded(view, depth, wishes(view, {}));
  const std::vector<int> numbers = topological_numbers(view);
  return renumbered(std::move(view), numbers);
}

GraphView GraphView::of(const Tensors& results, const GraphOptions& options, std::string_view caller) {
  if (results.empty()) fail<GraphError>(caller, "no tensor was given");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) fail<GraphError>(caller, "tensor ", i, " is undefined");
  }
  if (options.depth < automatic_depth) fail<ValueError>(caller, "depth ", options.depth, " is negative");
  if (options.overlay) check_overlay(*options.overlay, caller);
  GraphView whole = everything(results, options, caller);
  if (options.roll_up) whole = rolled_up(std::move(whole));
  const bool flat = whole.frames.empty();  // nothing can be folded
  GraphView view = flat ? std::move(whole) : small_enough(whole, options);
  if (const std::int64_t count = std::ssize(view.vertices); count > options.max_nodes) {
    fail<LimitError>(caller, count, " vertices to draw, max_nodes is ", options.max_nodes,
                     flat ? std::string() : smaller_views(whole, options, count),
                     flat ? "; no module is there to be folded: raise .max_nodes"
                          : "; fold modules with .depth or .fold, or raise .max_nodes");
  }
  const std::vector<int> numbers = topological_numbers(view);
  view = renumbered(std::move(view), numbers);
  add_equations(view);
  view.remark = path_remark(view, options);
  decorate(view, options, caller);
  return view;
}

}  // namespace xgrad
