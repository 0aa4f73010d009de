// Groups of modules, calls and operations that repeat.
#include "groups.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "../../base/text.h"
#include "alike.h"
#include "frames.h"
#include "order.h"

namespace xgrad::detail {
namespace {

constexpr std::size_t fewest_repetitions = 3;

bool is_forward(const GraphVertex& vertex) { return vertex.role == GraphRole::operation && vertex.order == 0; }
bool is_given(const GraphVertex& vertex) { return vertex.role <= GraphRole::constant; }

using Repetitions = std::vector<std::vector<int>>;

// Finds repetitions among the operations and modules that are in one frame, or in none.
class Repeating {
 public:
  // `blocks` are by frame: the module in this frame that it is in; `operations` all that are in it, inputs first.
  Repeating(const GraphView& view, const Inputs& inputs, const std::vector<int>& blocks, std::vector<int> operations)
      : view_(view),
        inputs_(inputs),
        blocks_(blocks),
        operations_(std::move(operations)),
        within_(view.vertices.size()),
        part_(view.vertices.size(), nothing) {
    for (const int v : operations_) {
      within_[v] = true;
      ++sizes_[block(v)];
      signs_.try_emplace(v, sign(v));
    }
  }

  // The most frequent repetitions come first.
  std::vector<Repetitions> found() {
    std::vector<std::vector<int>> users(view_.vertices.size());
    for (const int v : operations_) {
      for (const GraphEdge& edge : inputs_[v]) users[edge.from].push_back(v);
    }
    std::map<std::string, std::vector<int>> families;  // of vertices that may be the last ones of repetitions
    for (const int v : operations_) {
      const auto stays = [&](int user) { return block(user) == block(v); };
      if (block(v) != nothing && !users[v].empty() && std::ranges::all_of(users[v], stays)) continue;
      std::string key = signs_.at(v);
      for (const GraphEdge& edge : inputs_[v]) append(key, cat('\n', view_.vertices[edge.from].op, place(edge.from)));
      families[std::move(key)].push_back(v);
    }
    for (const auto& [key, family] : families) {
      if (family.size() >= fewest_repetitions) find_runs(family);
    }
    std::ranges::sort(runs_, [](const Repetitions& a, const Repetitions& b) {
      const std::size_t covered = a.size() * a[0].size(), covered_by_b = b.size() * b[0].size();
      return covered == covered_by_b ? a[0] < b[0] : covered > covered_by_b;
    });
    std::set<int> taken;
    std::vector<Repetitions> chosen;
    for (Repetitions& run : runs_) {
      const auto is_taken = [&](int v) { return taken.contains(v); };
      const auto meets = [&](const std::vector<int>& members) { return std::ranges::any_of(members, is_taken); };
      if (std::ranges::any_of(run, meets)) continue;
      for (const std::vector<int>& members : run) taken.insert(members.begin(), members.end());
      chosen.push_back(std::move(run));
    }
    return chosen;
  }

 private:
  int block(int v) const {
    const int c = view_.vertices[v].frame;
    return c == nothing ? nothing : blocks_[c];
  }

  // Its module, without numbers of calls and of modules in a list.
  std::string place(int v) const {
    if (block(v) == nothing) return {};
    const GraphFrame& module = view_.frames[block(v)];
    const std::string path = module_of(module.path), own = module_of(view_.vertices[v].path);
    const Numbered title = numbered(module.title);
    const bool in_list = !title.stem.empty() && !title.is_call();
    return cat(' ', in_list ? std::string(title.stem) : path, ' ', own.substr(std::min(path.size(), own.size())));
  }
  std::string sign(int v) const {
    const GraphVertex& vertex = view_.vertices[v];
    return cat(kind_of(vertex), '\n', place(v), '\n', is_given(vertex) && block(v) != nothing ? vertex.name : "");
  }
  bool alike(int v, int w) {
    return signs_.try_emplace(v, sign(v)).first->second == signs_.try_emplace(w, sign(w)).first->second;
  }

  // Numbers the parts of the graph that lead to each of a family: those that the ones before it do not need.
  void find_parts(const std::vector<int>& family) {
    for (const int v : operations_) part_[v] = nothing;
    parts_.assign(family.size(), {});
    for (std::size_t i = 0; i < family.size(); ++i) {
      std::vector<int> open;
      const auto enter = [&](int v) {
        if (!within_[v] || part_[v] != nothing) return;
        part_[v] = static_cast<int>(i);
        open.push_back(v);
      };
      for (enter(family[i]); !open.empty();) {
        const int v = open.back();
        open.pop_back();
        parts_[i].push_back(v);
        for (const GraphEdge& edge : inputs_[v]) enter(edge.from);
      }
      std::ranges::sort(parts_[i]);
    }
  }

  // Operations outside of modules that only prepare the inputs of a repetition, as slices do, belong to none.
  void find_feeders(int part) {
    for (const int v : parts_[part]) {
      if (block(v) != nothing) continue;
      const auto is_fed = [&](const GraphEdge& edge) { return part_[edge.from] <= 0 || feeders_.contains(edge.from); };
      if (std::ranges::all_of(inputs_[v], is_fed)) feeders_.insert(v);
    }
  }

  // Whether it belongs to the repetition that uses it: an operation, or a leaf of a module or a formula.
  bool belongs(int v) const {
    const GraphVertex& vertex = view_.vertices[v];
    return is_given(vertex) ? block(v) != nothing || vertex.role == GraphRole::constant : !feeders_.contains(v);
  }

  // By vertex of the repetition that ends with `last` its counterpart in the repetition that ends with `before`; none
  // if they differ.
  std::optional<std::map<int, int>> counterparts(int last, int before) {
    const int part = part_[last];
    std::map<int, int> result{{last, before}};
    std::vector<std::pair<int, int>> open{{last, before}};
    while (!open.empty()) {
      const auto [v, w] = open.back();
      open.pop_back();
      const GraphVertex &one = view_.vertices[v], &other = view_.vertices[w];
      const std::span<const GraphEdge> own = inputs_[v], its = inputs_[w];
      const bool is_weight = one.role == GraphRole::parameter;  // of its own, in no module
      const bool is_same = belongs(v) ? alike(v, w) : !is_weight && alike_but_for_places(one, other);
      if (!is_same || own.size() != its.size() || (!is_given(other) && part_[w] >= part)) return std::nullopt;
      if (feeders_.contains(v)) feeders_.insert(w);
      for (std::size_t e = 0; e < own.size(); ++e) {
        const int from = own[e].from, its_from = its[e].from;
        if (own[e].flow != its[e].flow || own[e].shape != its[e].shape) return std::nullopt;
        const bool from_before = !is_given(view_.vertices[from]) && part_[from] != part;
        if (from_before && from != its_from && feeders_.contains(v)) return std::nullopt;
        if (from == its_from || from_before) continue;
        const auto [pair, is_new] = result.try_emplace(from, its_from);
        if (pair->second != its_from) return std::nullopt;
        if (is_new) open.emplace_back(from, its_from);
      }
    }
    std::erase_if(result, [this](const auto& pair) { return !belongs(pair.first); });
    std::set<int> images;
    for (const auto& [v, w] : result) images.insert(w);
    if (images.size() < result.size()) return std::nullopt;
    return result;
  }

  void find_runs(const std::vector<int>& family) {
    find_parts(family);
    for (std::size_t end = family.size() - 1; end + 1 >= fewest_repetitions;) {
      feeders_.clear();
      find_feeders(static_cast<int>(end));
      Repetitions run;  // backwards
      std::size_t begin = end;
      for (bool whole = true; whole && begin > 0; --begin) {
        const auto pairs = counterparts(family[begin], family[begin - 1]);
        if (!pairs) break;
        if (run.empty()) {
          std::vector<int>& members = run.emplace_back();
          for (const auto& [v, w] : *pairs) members.push_back(v);
        }
        std::vector<int> before;
        for (const int v : run.back()) {
          if (const auto pair = pairs->find(v); pair != pairs->end()) before.push_back(pair->second);
        }
        if (before.size() < run.back().size() || pairs->size() > before.size()) break;
        const std::set<int> images(before.begin(), before.end());
        whole = std::ranges::all_of(parts_[begin - 1], [&](int v) { return images.contains(v) || !belongs(v); });
        run.push_back(std::move(before));
      }
      std::ranges::reverse(run);
      if (run.size() >= fewest_repetitions && is_group(run)) runs_.push_back(std::move(run));
      end = std::min(begin, end - 1);
    }
  }

  bool is_group(const Repetitions& run) const {
    std::map<int, std::pair<int, std::size_t>> at;  // by member: its repetition, and its place there
    std::map<int, int> sizes;
    for (int k = 0; std::cmp_less(k, run.size()); ++k) {
      for (std::size_t i = 0; i < run[k].size(); ++i) {
        at[run[k][i]] = {k, i};
        if (is_forward(view_.vertices[run[k][i]])) ++sizes[block(run[k][i])];
      }
    }
    for (const auto& [block, size] : sizes) {  // modules are whole
      if (block != nothing && sizes_.at(block) != size) return false;
    }
    for (int k = 1; std::cmp_less(k, run.size()); ++k) {
      for (std::size_t i = 0; i < run[k].size(); ++i) {
        const std::span<const GraphEdge> own = inputs_[run[k][i]], its = inputs_[run[k - 1][i]];
        for (std::size_t e = 0; e < own.size(); ++e) {
          const int from = own[e].from, its_from = its[e].from;
          const auto place = at.find(from);
          if (place == at.end()) {
            const bool of_all = !is_given(view_.vertices[from]) && !feeders_.contains(from);
            if (at.contains(its_from) || (of_all && from != its_from)) return false;
          } else if (const auto [repetition, number] = place->second; repetition == 0) {
            if (at.contains(its_from)) return false;
          } else if (its_from != run[repetition - 1][number]) {
            return false;
          }
        }
      }
    }
    return leads_on(run, at);
  }

  // Whether a module, and something besides it, is computed from the results of the repetition before.
  bool leads_on(const Repetitions& run, const std::map<int, std::pair<int, std::size_t>>& at) const {
    const int last = static_cast<int>(run.size()) - 1;
    std::vector<int> members = run.back();
    std::ranges::sort(members);
    std::set<int> reached, modules;
    std::size_t operations = 0;
    for (const int v : members) {
      const auto comes_from_before = [&](const GraphEdge& edge) {
        const auto place = at.find(edge.from);
        return place != at.end() && (place->second.first < last || reached.contains(edge.from));
      };
      if (std::ranges::none_of(inputs_[v], comes_from_before)) continue;
      reached.insert(v);
      if (block(v) == nothing) ++operations;
      if (block(v) != nothing) modules.insert(block(v));
    }
    return !modules.empty() && modules.size() + operations > 1;
  }

  const GraphView& view_;
  const Inputs& inputs_;
  const std::vector<int>& blocks_;
  const std::vector<int> operations_;
  std::map<int, int> sizes_;          // by module: its number of operations
  std::map<int, std::string> signs_;  // everything that counterparts have in common
  std::vector<bool> within_;          // by vertex: whether it is one of the operations
  std::vector<int> part_;             // by vertex
  std::vector<std::vector<int>> parts_;
  std::set<int> feeders_;
  std::vector<Repetitions> runs_;
};

// Makes the frames of groups.
class Framing {
 public:
  Framing(GraphView& view, std::vector<int> blocks, int level)
      : view_(view),
        blocks_(std::move(blocks)),
        level_(level),
        step_of_(view.vertices.size(), nothing),
        ranks_(view.vertices.size()) {}

  void add(const Repetitions& run) {
    const int module = block(*std::ranges::find_if(run[0], [this](int v) { return block(v) != nothing; }));
    const int parent = view_.frames[module].parent;
    const std::string around = parent == nothing ? std::string() : view_.frames[parent].path + '.';
    const auto is_taken = [&](const std::string& name) {
      return std::ranges::find(view_.frames, around + name, &GraphFrame::path) != view_.frames.end();
    };
    std::string name = "step";
    for (int n = 2; is_taken(name); ++n) name = cat("step ", n);
    name_calls(run);
    gather_shared(run);
    Group group;
    for (std::size_t k = 0; k < run.size(); ++k) {
      const std::string title = cat(name, " (", k + 1, ')');
      const auto step = static_cast<int>(steps_.size());
      steps_.push_back({around + (k == 0 ? name : title), title, parent, {}});
      for (std::size_t i = 0; i < run[k].size(); ++i) {
        const int v = run[k][i];
        step_of_[v] = step;
        ranks_[v] = static_cast<int>(i);
        put(v, step, 0);
      }
      group.frames.push_back(frame_in(step, 0));
      group.members.push_back(run[k]);
    }
    groups_.push_back(std::move(group));
    runs_.emplace_back(steps_.size() - run.size(), steps_.size());
  }

  std::vector<Group> groups() && {
    put_gradients();
    for (const auto& [first, last] : runs_) {
      for (int order = 1; order <= highest_order_; ++order) add_gradients(first, last, order);
    }
    for (GraphFrame& frame : view_.frames) frame.level = level_of(view_, frame);
    put_parents_first();
    return std::move(groups_);
  }

 private:
  struct Step {
    std::string path, title;
    int parent;                 // the frame of the forward pass around it
    std::map<int, int> frames;  // by order
  };

  int block(int v) const {
    const int c = view_.vertices[v].frame;
    return c == nothing || std::cmp_greater_equal(c, blocks_.size()) ? nothing : blocks_[c];
  }
  int found(int order, const std::string& path) const {
    const auto frame =
        std::ranges::find_if(view_.frames, [&](const GraphFrame& c) { return c.order == order && c.path == path; });
    return frame == view_.frames.end() ? nothing : static_cast<int>(frame - view_.frames.begin());
  }
  int frame_in(int number, int order) {
    Step& step = steps_[number];
    const auto [place, is_new] = step.frames.try_emplace(order, static_cast<int>(view_.frames.size()));
    if (is_new) {
      step_of_frame_[place->second] = number;
      const int parent = step.parent == nothing ? nothing : found(order, view_.frames[step.parent].path);
      view_.frames.push_back({.path = step.path, .title = step.title, .parent = parent, .order = order});
    }
    return place->second;
  }
  void put(int v, int step, int order) {
    const int c = block(v);
    (c == nothing ? view_.vertices[v].frame : view_.frames[c].parent) = frame_in(step, order);
  }

  // Calls are counted within a repetition, and as they follow each other.
  void name_calls(const Repetitions& run) {
    std::map<int, std::vector<int>> calls;  // by module in the first repetition
    std::vector<int> modules;
    for (std::size_t i = 0; i < run[0].size(); ++i) {
      const int first = block(run[0][i]);
      if (first == nothing || !is_forward(view_.vertices[run[0][i]]) || calls.contains(first)) continue;
      modules.push_back(first);
      for (const std::vector<int>& members : run) calls[first].push_back(block(members[i]));
    }
    const auto module_at = [&](int c) { return module_of(view_.frames[c].path); };
    std::map<std::string, std::pair<std::string, std::string>> names;  // by path: path and title
    std::map<std::string, int> count, number;
    for (const int first : modules) ++count[module_at(first)];
    for (const int first : modules) {
      const std::string module = module_at(first);
      if (module_at(calls[first][1]) != module) continue;
      std::vector<std::string> paths;
      for (const int c : calls[first]) paths.push_back(view_.frames[c].path);
      std::ranges::sort(paths, {}, [](const std::string& path) { return std::pair(path.size(), path); });
      const std::string title = module_of(view_.frames[first].title);
      const std::string own = count[module] == 1 ? title : cat(title, " (", ++number[module], ')');
      for (std::size_t k = 0; k < paths.size(); ++k) names[view_.frames[calls[first][k]].path] = {paths[k], own};
    }
    std::vector<std::string> paths;
    for (const GraphFrame& frame : view_.frames) paths.push_back(frame.path);
    for (std::size_t c = 0; c < blocks_.size(); ++c) {
      const auto name = blocks_[c] == nothing ? names.end() : names.find(paths[blocks_[c]]);
      if (name == names.end()) continue;
      view_.frames[c].path = name->second.first + paths[c].substr(name->first.size());
      if (std::cmp_equal(blocks_[c], c)) view_.frames[c].title = name->second.second;
    }
  }

  // Parameters shared by calls are drawn in the first of them.
  void gather_shared(const Repetitions& run) {
    std::set<int> members, modules;
    for (const std::vector<int>& repetition : run) members.insert(repetition.begin(), repetition.end());
    for (const int v : members) modules.insert(block(v));
    for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
      GraphVertex& vertex = view_.vertices[v];
      if (!is_given(vertex) || vertex.path.empty() || members.contains(v) || block(v) == nothing) continue;
      if (!modules.contains(block(v))) continue;
      if (const int first = found(0, vertex.path); first != nothing) vertex.frame = first;
    }
  }

  // Rules go into the repetition of their operation, vertices that only lead from or to them into theirs.
  void put_gradients() {
    std::vector<std::vector<int>> users(view_.vertices.size()), givers(view_.vertices.size());
    for (const GraphEdge& edge : view_.edges) {
      if (view_.vertices[edge.from].order != view_.vertices[edge.to].order) continue;
      users[edge.from].push_back(edge.to);
      givers[edge.to].push_back(edge.from);
    }
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      const int order = view_.vertices[v].order;
      highest_order_ = std::max(highest_order_, order);
      auto root = static_cast<int>(v);
      while (view_.vertices[root].rule_of != nothing) root = view_.vertices[root].rule_of;
      if (order == 0 || std::cmp_equal(root, v) || step_of_[root] == nothing) continue;
      step_of_[v] = step_of_[root];
      ranks_[v] = ranks_[root];
      put(static_cast<int>(v), step_of_[v], order);
    }
    for (std::size_t v = view_.vertices.size(); v-- > 0;) {
      GraphVertex& vertex = view_.vertices[v];
      if (vertex.order == 0 || vertex.rule_of != nothing) continue;
      const auto common = [&](const std::vector<int>& all) {
        const auto differs = [&](int other) { return step_of_[other] != step_of_[all[0]]; };
        return all.empty() || std::ranges::any_of(all, differs) ? nothing : step_of_[all[0]];
      };
      const int own = step_around(static_cast<int>(v));
      if (own != nothing && users[v].empty() && !givers[v].empty() &&
          common(givers[v]) == nothing) {  // of parameters shared by calls
        const int around = steps_[own].parent;
        vertex.path = around == nothing ? std::string() : view_.frames[around].path;
        vertex.frame = around == nothing ? nothing : found(vertex.order, vertex.path);
        continue;
      }
      const bool beside = vertex.frame == nothing ? level_ == 1 : view_.frames[vertex.frame].level == level_ - 1;
      const bool is_part = vertex.role == GraphRole::gradient_operation || vertex.role == GraphRole::constant;
      const bool can_move = beside && is_part && !vertex.is_result;
      const int by_users = common(users[v]);
      step_of_[v] = own != nothing ? own : !can_move ? nothing : by_users != nothing ? by_users : common(givers[v]);
      if (step_of_[v] == nothing) continue;
      if (own == nothing) vertex.frame = frame_in(step_of_[v], vertex.order);
      ranks_[v] = std::numeric_limits<int>::max();
      for (const int user : users[v]) {
        if (step_of_[user] == step_of_[v]) ranks_[v] = std::min(ranks_[v], ranks_[user]);
      }
    }
  }
  int step_around(int v) const {
    for (int c = view_.vertices[v].frame; c != nothing; c = view_.frames[c].parent) {
      if (const auto step = step_of_frame_.find(c); step != step_of_frame_.end()) return step->second;
    }
    return nothing;
  }

  void add_gradients(std::size_t first, std::size_t last, int order) {
    Group group;
    for (std::size_t step = first; step < last; ++step) {
      if (!steps_[step].frames.contains(order)) continue;
      group.frames.push_back(steps_[step].frames.at(order));
      std::vector<int>& members = group.members.emplace_back();
      for (int v = 0; std::cmp_less(v, view_.vertices.size()); ++v) {
        if (view_.vertices[v].order == order && std::cmp_equal(step_of_[v], step)) members.push_back(v);
      }
      std::ranges::stable_sort(members, {},
                               [this](int v) { return std::pair(ranks_[v], view_.vertices[v].rule_of == nothing); });
    }
    if (!group.frames.empty()) groups_.push_back(std::move(group));
  }

  void put_parents_first() {
    std::vector<int> order(view_.frames.size()), numbers(view_.frames.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [this](int c) { return view_.frames[c].level; });
    std::vector<GraphFrame> frames;
    for (const int c : order) {
      numbers[c] = static_cast<int>(frames.size());
      frames.push_back(std::move(view_.frames[c]));
    }
    const auto renumber = [&](int& c) {
      if (c != nothing) c = numbers[c];
    };
    for (GraphFrame& frame : frames) renumber(frame.parent);
    for (GraphVertex& vertex : view_.vertices) renumber(vertex.frame);
    for (Group& group : groups_) std::ranges::for_each(group.frames, renumber);
    view_.frames = std::move(frames);
  }

  GraphView& view_;
  const std::vector<int> blocks_;
  const int level_;
  std::vector<Step> steps_;
  std::map<int, int> step_of_frame_;
  std::vector<std::pair<std::size_t, std::size_t>> runs_;  // steps that belong to one group
  std::vector<int> step_of_, ranks_;                       // by vertex
  int highest_order_ = 0;
  std::vector<Group> groups_;
};

}  // namespace

std::vector<Group> framed_groups(GraphView& view, int level) {
  const Inputs inputs(view);
  std::vector<int> blocks = blocks_at(view, level);
  std::map<int, std::size_t> modules;  // by the frame that they lie in
  for (const GraphFrame& frame : view.frames) modules[frame.parent] += frame.order == 0 && frame.level == level;
  std::map<int, std::vector<int>> operations;
  for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
    const int c = view.vertices[v].frame;
    if (!is_forward(view.vertices[v])) continue;
    const int around = c == nothing || blocks[c] == nothing ? c : view.frames[blocks[c]].parent;
    if (modules[around] >= fewest_repetitions) operations[around].push_back(v);
  }
  std::vector<Repetitions> found;
  for (auto& [around, list] : operations) {
    std::ranges::move(Repeating(view, inputs, blocks, std::move(list)).found(), std::back_inserter(found));
  }
  if (found.empty()) return {};
  Framing framing(view, std::move(blocks), level);
  for (const Repetitions& run : found) framing.add(run);
  return std::move(framing).groups();
}

}  // namespace xgrad::detail
