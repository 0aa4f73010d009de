// Assigning vertices to frames.
#include "frames.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "../../base/assert.h"
#include "../../base/scope.h"
#include "../../base/text.h"
#include "topology.h"

namespace xgrad::detail {
namespace {

constexpr std::size_t most_parts = 32;  // of a path: modules that are nested deeper are drawn as one

// The parts of a module's path; a number belongs to the name before it: encoder, blocks.0, attn.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin < path.size();) {
    std::size_t end = std::min(path.find('.', begin), path.size());
    if (parts.size() == most_parts) end = path.size();
    const std::string_view part = path.substr(begin, end - begin);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    if (number && !parts.empty()) {
      parts.back() = std::string_view(parts.back().data(), parts.back().size() + 1 + part.size());
    } else {
      parts.push_back(part);
    }
    begin = end + 1;
  }
  return parts;
}

// A path up to the end of one of its parts.
std::string_view up_to(std::string_view path, std::string_view part) {
  return path.substr(0, static_cast<std::size_t>(part.data() + part.size() - path.data()));
}

// Finds frames by their paths, and makes missing ones.
class FrameTree {
 public:
  FrameTree(Indexed<GraphFrame>& frames, const std::map<std::string, std::string>& whats)
      : frames_(frames), whats_(whats) {}

  int needed(int order, std::string_view path) {
    int frame = nothing;
    for (const std::string_view part : parts_of(path)) {
      const std::string_view prefix = up_to(path, part);
      const auto [entry, is_new] = indices_.try_emplace({order, std::string(prefix)}, frames_.count());
      if (is_new) {
        const auto what = whats_.find(module_of(prefix));
        frames_.push_back({.path = std::string(prefix),
                           .title = std::string(part),
                           .parent = frame,
                           .order = order,
                           .what = what == whats_.end() ? std::string() : what->second});
      }
      frame = entry->second;
    }
    return frame;
  }
  // The innermost frame of the forward pass around a dotted name.
  int around(std::string_view name) const {
    for (std::size_t end = name.rfind('.'); end != name.npos && end > 0; end = name.rfind('.', end - 1)) {
      const auto entry = indices_.find({0, std::string(name.substr(0, end))});
      if (entry != indices_.end()) return entry->second;
    }
    return nothing;
  }
  int common(int a, int b) const {
    while (a != b) (a > b ? a : b) = frames_[std::max(a, b)].parent;  // parents have smaller indices
    return a;
  }

 private:
  Indexed<GraphFrame>& frames_;
  const std::map<std::string, std::string>& whats_;
  std::map<std::pair<int, std::string>, int> indices_;  // by order and path
};

bool is_named_leaf(const GraphVertex& vertex) {
  return vertex.role == GraphRole::parameter || (vertex.role == GraphRole::input && vertex.flow == GraphFlow::numbers);
}

// The calls of modules, numbered in the order of the last operation in each: the order in which the operands of one
// expression were computed depends on the compiler.
class Calls {
 public:
  Calls(const GraphView& view, const Indexed<std::uint32_t>& calls) {
    for (int v = view.vertices.count(); v-- > 0;) {
      if (view.vertices[v].role == GraphRole::operation) path_of(view.vertices[v].path, calls[v]);
    }
    repeated_.clear();  // until all calls are known, their numbers are not
  }

  // The path of an operation with the numbers of calls: "cell (2).gate" for the gate in the second call of the cell.
  std::string path_of(std::string_view path, std::uint32_t innermost) {
    std::map<std::string_view, std::uint32_t> around;  // by module: the call that it ran in
    for (Call call = find_call(innermost); call.id != 0; call = find_call(call.outer)) {
      around[call.place->path] = call.id;
    }
    std::string own, key;
    for (const std::string_view part : parts_of(path)) {
      for (std::string* text : {&own, &key}) append(*text, str(text->empty() ? "" : ".", part));
      const auto call = around.find(up_to(path, part));
      if (call == around.end()) continue;  // called from outside of this module
      Indexed<std::uint32_t>& calls = calls_[key];
      const auto known = std::ranges::find(calls, call->second);
      const std::ptrdiff_t number = calls.end() - known;
      if (known == calls.end()) calls.push_back(call->second);
      if (number == 1 && calls.size() > 1) repeated_.insert(own);
      if (number > 1) append(own, str(" (", number, ')'));
      append(key, str('#', call->second));
    }
    return own;
  }
  bool is_first_of_several(const std::string& path) const { return repeated_.contains(path); }

 private:
  std::map<std::string, Indexed<std::uint32_t>> calls_;  // by path and calls around it, the last one first
  std::set<std::string> repeated_;                       // paths of first calls
};

}  // namespace

void set_levels(GraphView& view) {
  for (GraphFrame& frame : view.frames) {  // parents come first
    frame.level = frame.parent == nothing ? 1 : view.frames[frame.parent].level + 1;
  }
}

int deepest_level(const GraphView& view) {
  return view.frames.empty() ? 0 : std::ranges::max(view.frames, {}, &GraphFrame::level).level;
}

std::string module_of(std::string_view path) {
  std::string module(path);
  for (std::size_t begin = module.rfind(" ("); begin != module.npos; begin = module.rfind(" (", begin)) {
    const std::size_t end = module.find_first_not_of("0123456789", begin + 2);
    if (end == module.npos || module[end] != ')') break;
    module.erase(begin, end + 1 - begin);
  }
  return module;
}

Numbered numbered(std::string_view title) {
  const bool is_call = title.ends_with(')');
  const std::string_view text = title.substr(0, title.size() - is_call);
  const std::size_t end = text.find_last_not_of("0123456789") + 1;  // 0 if there are only digits
  if (end == 0 || end == text.size() || (is_call && !text.substr(0, end).ends_with(" ("))) return {};
  return {text.substr(0, end), text.substr(end)};
}

void assign_frames(GraphView& view, const Indexed<std::uint32_t>& calls,
                   const std::map<std::string, std::string>& whats) {
  XGRAD_ASSERT(view.frames.empty() && calls.size() == view.vertices.size());
  FrameTree tree(view.frames, whats);
  Calls numbered_calls(view, calls);
  for (int v = 0; v < view.vertices.count(); ++v) {
    GraphVertex& vertex = view.vertices[v];
    if (vertex.role != GraphRole::operation) continue;
    vertex.frame = tree.needed(vertex.order, numbered_calls.path_of(vertex.path, calls[v]));
  }
  // A named leaf is drawn in the module that its name says, a constant where it is used.
  for (GraphVertex& vertex : view.vertices) {
    if (!is_named_leaf(vertex)) continue;
    vertex.frame = tree.around(vertex.name);
    if (vertex.frame == nothing) continue;
    vertex.path = view.frames[vertex.frame].path;
    vertex.name.erase(0, vertex.path.size() + 1);
  }
  for (int v = 0; v < view.vertices.count(); ++v) {
    GraphVertex& vertex = view.vertices[v];
    if (vertex.role != GraphRole::gradient_operation) continue;
    const int of = vertex.rule_of == nothing ? nothing : view.vertices[vertex.rule_of].frame;
    if (vertex.rule_of != nothing) vertex.path = view.vertices[vertex.rule_of].path;
    vertex.frame = tree.needed(vertex.order, of == nothing ? vertex.path : std::string(view.frames[of].path));
  }
  for (GraphFrame& frame : view.frames) {  // of first calls
    if (numbered_calls.is_first_of_several(frame.path)) frame.title += " (1)";
  }
  // The sum of gradients that meet is in the innermost frame that they all come from.
  Indexed<std::optional<int>> around(view.vertices.count());
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& sum = view.vertices[edge.to];
    if (sum.role != GraphRole::gradient_operation || sum.rule_of != nothing || sum.is_result) continue;
    const int from = view.vertices[edge.from].frame;
    around[edge.to] = around[edge.to] ? tree.common(*around[edge.to], from) : from;
    sum.frame = *around[edge.to];
    sum.path = sum.frame == nothing ? std::string() : view.frames[sum.frame].path;
  }
  Indexed<bool> is_assigned(view.vertices.count());
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& leaf = view.vertices[edge.from];
    const GraphVertex& user_vertex = view.vertices[edge.to];
    const bool computed_there =
        leaf.flow == GraphFlow::indices && leaf.name == "index";  // or given, outside of all modules
    const bool moves = leaf.role == GraphRole::constant || leaf.role == GraphRole::seed || computed_there;
    if (!moves || user_vertex.order != leaf.order) continue;
    const int user = user_vertex.frame;
    leaf.frame = is_assigned[edge.from] ? tree.common(leaf.frame, user) : user;
    is_assigned[edge.from] = true;
  }
  for (GraphVertex& vertex : view.vertices) {
    if (vertex.flow == GraphFlow::indices && vertex.frame != nothing) vertex.role = GraphRole::constant;
  }
  set_levels(view);
}

}  // namespace xgrad::detail
