// Which frame each vertex of a GraphView is drawn in.
#include "frames.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "order.h"

namespace xgrad::detail {
namespace {

constexpr int most_levels = 32;  // of nested frames; what lies deeper counts as one

// The parts of a module's path; a number belongs to the name before it: encoder, blocks.0, attn.
std::vector<std::string_view> levels_of(std::string_view path) {
  std::vector<std::string_view> levels;
  for (std::size_t begin = 0; begin < path.size();) {
    std::size_t end = std::min(path.find('.', begin), path.size());
    if (levels.size() == most_levels) end = path.size();
    const std::string_view part = path.substr(begin, end - begin);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    if (number && !levels.empty()) {
      levels.back() = std::string_view(levels.back().data(), levels.back().size() + 1 + part.size());
    } else {
      levels.push_back(part);
    }
    begin = end + 1;
  }
  return levels;
}

// Finds frames by their paths, and makes those that are missing.
class FrameTree {
 public:
  FrameTree(std::vector<GraphFrame>& frames, const std::map<std::string, std::string>& whats)
      : frames_(frames), whats_(whats) {}

  int needed(int order, std::string_view path) {
    int frame = nothing;
    for (const std::string_view level : levels_of(path)) {
      const std::string_view prefix = path.substr(0, level.data() + level.size() - path.data());
      const auto [place, is_new] = known_.try_emplace({order, std::string(prefix)}, static_cast<int>(frames_.size()));
      if (is_new) {
        const auto what = whats_.find(std::string(prefix));
        frames_.push_back({.path = std::string(prefix),
                           .title = std::string(level),
                           .parent = frame,
                           .order = order,
                           .what = what == whats_.end() ? std::string() : what->second,
                           .level = frame == nothing ? 1 : frames_[frame].level + 1});
      }
      frame = place->second;
    }
    return frame;
  }
  // The innermost frame that `name`, a dotted name, lies in.
  int around(int order, std::string_view name) const {
    for (std::size_t end = name.rfind('.'); end != name.npos && end > 0; end = name.rfind('.', end - 1)) {
      if (const auto place = known_.find({order, std::string(name.substr(0, end))}); place != known_.end()) {
        return place->second;
      }
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
  std::map<std::pair<int, std::string>, int> known_;
};

bool is_named_leaf(const GraphVertex& vertex) {
  return vertex.role == GraphRole::parameter || (vertex.role == GraphRole::input && vertex.op == "leaf");
}

// Puts operations of the forward pass into modules that were not entered.
class Silent {
 public:
  explicit Silent(GraphView& view)
      : view_(view), inputs_(view.vertices.size()), users_(view.vertices.size()), entered_(view.frames.size()) {
    for (const GraphEdge& edge : view.edges) {
      inputs_[edge.to].push_back(edge.from);
      users_[edge.from].push_back(edge.to);
    }
    for (const GraphVertex& vertex : view.vertices) {
      if (forward(vertex) && vertex.frame != nothing) entered_[vertex.frame] = true;
    }
  }

  void place() {
    if (std::ranges::all_of(entered_, std::identity())) return;
    const std::size_t count = view_.vertices.size();
    std::vector<std::set<int>> before(count), after(count);
    for (std::size_t v = count; v-- > 0;) {
      if (!forward(view_.vertices[v])) continue;
      for (const int user : users_[v]) add(after[v], user, after);
    }
    for (std::size_t v = 0; v < count; ++v) {
      GraphVertex& vertex = view_.vertices[v];
      if (!forward(vertex)) continue;
      std::set<int> sure = after[v];  // of the modules before, those that it lies in
      std::map<int, std::size_t> shared;
      std::set<int> inputs(inputs_[v].begin(), inputs_[v].end());
      std::erase_if(inputs, [this](int input) { return view_.vertices[input].role == GraphRole::constant; });
      for (const int input : inputs) {
        std::set<int> own;
        add(own, input, before);
        for (const int module : own) ++shared[module];
        if (view_.vertices[input].role == GraphRole::parameter) sure.insert(own.begin(), own.end());
      }
      int innermost = nothing;
      for (const auto& [module, count] : shared) {
        before[v].insert(module);
        if (inputs.size() > 1 && count == inputs.size()) sure.insert(module);
        if (below(module, vertex.frame) && sure.contains(module)) innermost = std::max(innermost, module);
      }
      if (innermost == nothing) continue;
      vertex.frame = innermost;
      vertex.path = view_.frames[innermost].path;
    }
  }

 private:
  static bool forward(const GraphVertex& vertex) { return vertex.role == GraphRole::operation && vertex.order == 0; }
  bool below(int frame, int above) const {
    if (frame == above) return false;
    while (frame != nothing && frame != above) frame = view_.frames[frame].parent;
    return frame == above;
  }
  // The modules that were not entered around vertex v; those of its neighbours, if it lies in none itself.
  void add(std::set<int>& modules, int v, const std::vector<std::set<int>>& reached) const {
    const GraphVertex& vertex = view_.vertices[v];
    bool found = false;
    for (int c = vertex.frame; c != nothing; c = view_.frames[c].parent) {
      if (entered_[c]) continue;
      modules.insert(c);
      found = true;
    }
    if (!found && forward(vertex)) modules.insert(reached[v].begin(), reached[v].end());
  }

  GraphView& view_;
  std::vector<std::vector<int>> inputs_, users_;
  std::vector<bool> entered_;
};

}  // namespace

void place_in_frames(GraphView& view, const std::vector<int>& rule_of,
                     const std::map<std::string, std::string>& whats) {
  FrameTree tree(view.frames, whats);
  for (GraphVertex& vertex : view.vertices) {
    if (vertex.role == GraphRole::operation) vertex.frame = tree.needed(vertex.order, vertex.path);
  }
  // A named leaf is drawn where its name says, a constant where it is used.
  for (GraphVertex& vertex : view.vertices) {
    if (!is_named_leaf(vertex)) continue;
    vertex.frame = tree.around(0, vertex.name);
    if (vertex.frame == nothing) continue;
    vertex.path = view.frames[vertex.frame].path;
    vertex.name.erase(0, vertex.path.size() + 1);
  }
  Silent(view).place();
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    GraphVertex& vertex = view.vertices[v];
    if (vertex.role != GraphRole::gradient_operation) continue;
    if (rule_of[v] != nothing) vertex.path = view.vertices[rule_of[v]].path;
    vertex.frame = tree.needed(vertex.order, vertex.path);
  }
  std::vector<bool> placed(view.vertices.size());
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& leaf = view.vertices[edge.from];
    const GraphVertex& user_vertex = view.vertices[edge.to];
    if ((leaf.role != GraphRole::constant && leaf.role != GraphRole::seed) || user_vertex.order != leaf.order) continue;
    const int user = user_vertex.frame;
    leaf.frame = placed[edge.from] ? tree.common(leaf.frame, user) : user;
    placed[edge.from] = true;
  }
}

}  // namespace xgrad::detail
