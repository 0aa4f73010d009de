// Assigning vertices to frames.
#include "frames.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "../../base/assert.h"
#include "../../base/text.h"
#include "order.h"

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

// Finds frames by their paths, and makes missing ones.
class FrameTree {
 public:
  FrameTree(std::vector<GraphFrame>& frames, const std::map<std::string, std::string>& whats)
      : frames_(frames), whats_(whats) {}

  int needed(int order, std::string_view path) {
    int frame = nothing;
    for (const std::string_view part : parts_of(path)) {
      const std::string_view prefix = path.substr(0, part.data() + part.size() - path.data());
      const auto [entry, is_new] = numbers_.try_emplace({order, std::string(prefix)}, static_cast<int>(frames_.size()));
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
  int found(int order, const std::string& path) const {
    const auto entry = numbers_.find({order, path});
    return entry == numbers_.end() ? nothing : entry->second;
  }
  // The innermost frame around a dotted name.
  int around(int order, std::string_view name) const {
    for (std::size_t end = name.rfind('.'); end != name.npos && end > 0; end = name.rfind('.', end - 1)) {
      if (const int frame = found(order, std::string(name.substr(0, end))); frame != nothing) return frame;
    }
    return nothing;
  }
  int common(int a, int b) const {
    while (a != b) (a > b ? a : b) = frames_[std::max(a, b)].parent;  // parents have smaller numbers
    return a;
  }

 private:
  std::vector<GraphFrame>& frames_;
  const std::map<std::string, std::string>& whats_;
  std::map<std::pair<int, std::string>, int> numbers_;  // by order and path
};

bool is_named_leaf(const GraphVertex& vertex) {
  return vertex.role == GraphRole::parameter || (vertex.role == GraphRole::input && vertex.op == "leaf");
}

// Gives each call of a module that was called several times its own frame, where the calls can be distinguished:
// by how often its parameters were used, or by operations computed elsewhere between them.
class Calls {
 public:
  Calls(GraphView& view, FrameTree& tree, const std::vector<std::uint64_t>& ids)
      : view_(view), tree_(tree), rank_(view.vertices.size()) {
    for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
      if (is_forward(view.vertices[v])) sequence_.push_back(v);
    }
    std::ranges::sort(sequence_, {}, [&](int v) { return ids[v]; });
    for (std::size_t i = 0; i < sequence_.size(); ++i) rank_[sequence_[i]] = i;
    std::vector<int> uses(view.vertices.size());
    for (const GraphEdge& edge : view.edges) uses[edge.from] += is_forward(view.vertices[edge.to]);
    for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
      if (view.vertices[v].role != GraphRole::parameter) continue;
      for (const int c : around(v)) uses_[c] = std::gcd(uses_[c], uses[v]);
    }
    for (const int v : sequence_) {
      for (const int c : around(v)) members_[c].push_back(v);
    }
  }

  void split() {
    for (int c = 0; std::cmp_less(c, view_.frames.size()); ++c) {
      if (view_.frames[c].order == 0) split(c);
    }
  }

 private:
  static bool is_forward(const GraphVertex& vertex) { return vertex.role == GraphRole::operation && vertex.order == 0; }
  // The frames around it.
  std::vector<int> around(int v) const {
    std::vector<int> frames;
    for (int c = view_.vertices[v].frame; c != nothing; c = view_.frames[c].parent) frames.push_back(c);
    return frames;
  }
  bool equal(std::span<const int> a, std::span<const int> b) const {
    const auto rank = [](const GraphVertex& vertex) { return vertex.shape ? vertex.shape->rank() : nothing; };
    return std::ranges::equal(a, b, [&](int v, int w) {
      const GraphVertex &one = view_.vertices[v], &other = view_.vertices[w];
      return one.op == other.op && one.path == other.path && rank(one) == rank(other);
    });
  }

  using Call = std::span<const int>;  // its operations in their sequence

  void split(int frame) {
    const std::vector<int> members = members_[frame];
    const std::size_t uses = uses_[frame];
    std::vector<Call> calls;
    if (uses > 1 && members.size() % uses == 0) {
      const std::size_t size = members.size() / uses;
      for (std::size_t i = 0; i < members.size(); i += size) calls.push_back(Call(members).subspan(i, size));
    }
    if (!all_equal(calls)) {
      calls.clear();
      for (std::size_t begin = 0, i = 1; i <= members.size(); ++i) {
        if (i < members.size() && rank_[members[i]] == rank_[members[i - 1]] + 1) continue;
        calls.push_back(Call(members).subspan(begin, i - begin));
        begin = i;
      }
      if (!all_equal(calls)) return;
    }
    // The order in which the operands of one expression were computed depends on the compiler, their numbers do not.
    std::ranges::sort(calls, {}, [](const Call& call) { return std::ranges::max(call); });
    const std::string path = view_.frames[frame].path;
    std::set<int> left;  // frames that some have moved out of
    for (std::size_t i = 1; i < calls.size(); ++i) {
      const std::string own = str(path, " (", i + 1, ')');
      for (const int v : calls[i]) {
        for (int c = view_.vertices[v].frame; c >= frame; c = view_.frames[c].parent) left.insert(c);
        const std::string inner = view_.frames[view_.vertices[v].frame].path.substr(path.size());
        const int moved = view_.vertices[v].frame = tree_.needed(0, str(own, inner));
        for (int c = moved; c != view_.frames[frame].parent; c = view_.frames[c].parent) members_[c].push_back(v);
      }
    }
    for (const int c : left) {
      std::erase_if(members_[c], [&](int v) {
        const std::vector<int> frames = around(v);
        return std::ranges::find(frames, c) == frames.end();
      });
    }
    view_.frames[frame].title += " (1)";
  }
  bool all_equal(const std::vector<Call>& calls) const {
    const auto differ = [this](const Call& a, const Call& b) { return !equal(a, b); };
    return calls.size() > 1 && std::ranges::adjacent_find(calls, differ) == calls.end();
  }

  GraphView& view_;
  FrameTree& tree_;
  std::vector<int> sequence_;      // operations of the forward pass as they were computed
  std::vector<std::size_t> rank_;  // by vertex: its position among them
  std::map<int, int> uses_;        // by frame: how often each of its parameters was used, if all equally often
  std::map<int, std::vector<int>> members_;  // by frame, in their sequence
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

void assign_frames(GraphView& view, const std::vector<std::uint64_t>& ids,
                   const std::map<std::string, std::string>& whats) {
  XGRAD_ASSERT(view.frames.empty() && ids.size() == view.vertices.size());
  FrameTree tree(view.frames, whats);
  for (GraphVertex& vertex : view.vertices) {
    if (vertex.role == GraphRole::operation) vertex.frame = tree.needed(vertex.order, vertex.path);
  }
  // A named leaf is drawn in the module that its name says, a constant where it is used.
  for (GraphVertex& vertex : view.vertices) {
    if (!is_named_leaf(vertex)) continue;
    vertex.frame = tree.around(0, vertex.name);
    if (vertex.frame == nothing) continue;
    vertex.path = view.frames[vertex.frame].path;
    vertex.name.erase(0, vertex.path.size() + 1);
  }
  Calls(view, tree, ids).split();
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    GraphVertex& vertex = view.vertices[v];
    if (vertex.role != GraphRole::gradient_operation) continue;
    const int of = vertex.rule_of == nothing ? nothing : view.vertices[vertex.rule_of].frame;
    if (vertex.rule_of != nothing) vertex.path = view.vertices[vertex.rule_of].path;
    vertex.frame = tree.needed(vertex.order, of == nothing ? vertex.path : std::string(view.frames[of].path));
  }
  for (GraphFrame& frame : view.frames) {  // of first calls
    const int forward = frame.order > 0 ? tree.found(0, frame.path) : nothing;
    if (forward != nothing) frame.title = view.frames[forward].title;
  }
  // The sum of gradients that meet is in the innermost frame that they all come from.
  std::vector<std::optional<int>> around(view.vertices.size());
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& sum = view.vertices[edge.to];
    if (sum.role != GraphRole::gradient_operation || sum.rule_of != nothing || sum.is_result) continue;
    const int from = view.vertices[edge.from].frame;
    around[edge.to] = around[edge.to] ? tree.common(*around[edge.to], from) : from;
    sum.frame = *around[edge.to];
    sum.path = sum.frame == nothing ? std::string() : view.frames[sum.frame].path;
  }
  std::vector<bool> is_assigned(view.vertices.size());
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& leaf = view.vertices[edge.from];
    const GraphVertex& user_vertex = view.vertices[edge.to];
    const bool computed_there = leaf.op == "indices" && leaf.name == "index";  // or given, outside of all modules
    const bool moves = leaf.role == GraphRole::constant || leaf.role == GraphRole::seed || computed_there;
    if (!moves || user_vertex.order != leaf.order) continue;
    const int user = user_vertex.frame;
    leaf.frame = is_assigned[edge.from] ? tree.common(leaf.frame, user) : user;
    is_assigned[edge.from] = true;
  }
  for (GraphVertex& vertex : view.vertices) {
    if (vertex.op == "indices" && vertex.frame != nothing) vertex.role = GraphRole::constant;
  }
  set_levels(view);
}

}  // namespace xgrad::detail
