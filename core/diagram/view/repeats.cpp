// Equal structures, drawn once.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../../base/text.h"
#include "folding.h"
#include "frames.h"
#include "labels.h"
#include "topology.h"

namespace xgrad::detail {
namespace {

constexpr std::size_t fewest_apart = 4;  // calls that do not follow each other
constexpr std::size_t fewest_named = 3;  // modules whose names end in plain numbers: layer1, layer2

// The edges into each vertex.
Indexed<std::span<const GraphEdge>> inputs_of(const GraphView& view) {
  Indexed<std::span<const GraphEdge>> inputs(view.vertices.count());
  for (std::size_t begin = 0, end = 0; begin < view.edges.size(); begin = end) {
    const int to = view.edges[begin].to;
    while (end < view.edges.size() && view.edges[end].to == to) ++end;
    inputs[to] = std::span(view.edges).subspan(begin, end - begin);
  }
  return inputs;
}

// By frame: the frame at this level that it is or that contains it, or -1.
Indexed<int> blocks_at(const GraphView& view, int level) {
  Indexed<int> blocks;
  for (int c = 0; c < view.frames.count(); ++c) {
    const GraphFrame& frame = view.frames[c];
    blocks.push_back(frame.level < level ? nothing : frame.level == level ? c : blocks[frame.parent]);
  }
  return blocks;
}

// Whether an attribute is a position or a key: where a slice begins, or which random numbers are drawn.
bool is_position(std::string_view attribute) { return attribute == "start" || attribute == "key"; }

// Everything that two vertices must share to be drawn as one: all but names and positions.
std::string signature_of(const GraphVertex& vertex) {
  std::string text =
      str(static_cast<int>(vertex.role), '\0', vertex.op, '\0', vertex.shape ? str(*vertex.shape) : std::string(), '\0',
          vertex.constant ? str(*vertex.constant) : std::string());
  for (const auto& [name, value] : vertex.text.attributes) {
    append(text, str('\0', name, ' ', is_position(name) ? std::string() : value));
  }
  return text;
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = 0; !part.empty() && (at = text.find(part, at)) != text.npos;) text.erase(at, part.size());
  return text;
}

bool is_weight_of(const GraphVertex& vertex, std::string_view module) {
  return vertex.role == GraphRole::parameter && lies_within(vertex.path, module);
}

// Frames at a level that stand for others, and the vertices that are merged with them.
class RollUp {
 public:
  RollUp(const GraphView& view, int level, const std::set<int>& apart)
      : becomes(view.vertices.count()),
        representative(view.frames.count(), nothing),
        view_(view),
        inputs_(inputs_of(view)),
        block_of_(blocks_at(view, level)),
        members_(view.frames.count()),
        users_(view.vertices.count()) {
    std::iota(becomes.begin(), becomes.end(), 0);
    find_members();
    for (const GraphEdge& edge : view.edges) {
      const int from = block_of(edge.from), to = block_of(edge.to);
      const bool flows = from != nothing && to != nothing && from != to;
      if (flows && view.vertices[edge.from].role != GraphRole::parameter) links_.emplace(from, to);
    }
    find_families(apart);
    for (const GraphEdge& edge : view.edges) {  // rules use the inputs of their operations
      if (view.vertices[edge.from].order == view.vertices[edge.to].order) users_[edge.from].push_back(edge.to);
    }
    for (int c = 0; c < view.frames.count(); ++c) {
      if (representative[c] != nothing && representative[c] != c) join_what_feeds(c);
    }
  }

  int block_of(int v) const { return entry_of(block_of_, view_.vertices[v].frame); }
  // The first of the blocks with the structure of the block around a vertex.
  int family_of(int v) const { return entry_of(representative, block_of(v)); }
  // By edge: whether it leads from one block to the next.
  Indexed<bool> hidden() const {
    Indexed<bool> result;
    for (const GraphEdge& edge : view_.edges) {
      const int family = family_of(edge.from);
      result.push_back(family != nothing && family == family_of(edge.to) && block_of(edge.from) != block_of(edge.to));
    }
    return result;
  }
  bool follow_each_other(int block) const { return chained_.contains(block); }

  Indexed<int> becomes;                  // by vertex
  Indexed<int> representative;           // by block: the first that has the same structure
  std::map<int, Indexed<int>> families;  // by representative: all with the same structure
  std::map<int, Indexed<int>> joined;    // by vertex outside of the blocks: others that it stands for

 private:
  // For a call of a module without its parameters, which all calls share.
  void find_members() {
    for (int v = 0; v < view_.vertices.count(); ++v) {
      const int block = block_of(v);
      if (block == nothing) continue;
      const GraphFrame& frame = view_.frames[block];
      if (numbered(frame.title).is_call() && is_weight_of(view_.vertices[v], module_of(frame.path))) continue;
      members_[block].push_back(v);
    }
    // Leaves come first: their positions among the others depend on what else leads into a block.
    for (Indexed<int>& members : members_) {
      std::stable_partition(members.begin(), members.end(), [this](int v) { return inputs_[v].empty(); });
    }
  }

  // The structure and connections of a block. Two blocks with equal texts differ only in their names.
  std::string structure(int block) const {
    const std::string module = module_of(view_.frames[block].path);
    std::unordered_map<int, std::size_t> position;
    for (const int v : members_[block]) position.emplace(v, position.size());
    std::string text;
    for (const int v : members_[block]) {
      const GraphVertex& vertex = view_.vertices[v];
      const std::string_view inner = std::string_view(vertex.path).substr(std::min(module.size(), vertex.path.size()));
      const std::string name = is_operation(vertex) ? std::string() : without(vertex.name, module + '.');
      append(text, str(signature_of(vertex), '\0', name, '\0', inner));
      for (const GraphEdge& edge : inputs_[v]) {
        const GraphVertex& from = view_.vertices[edge.from];
        if (is_weight_of(from, module)) {
          append(text, str(' ', without(full_name(from), module)));
        } else {
          append(text, str(' ', position.try_emplace(edge.from, position.size()).first->second));
        }
      }
      text += '\n';
    }
    return text;
  }

  void find_families(const std::set<int>& apart) {
    std::map<std::tuple<int, int, std::string>, Indexed<int>> alike;
    for (int c = 0; c < view_.frames.count(); ++c) {
      const GraphFrame& frame = view_.frames[c];
      const std::string_view stem = numbered(frame.title).stem;
      if (members_[c].empty() || stem.empty() || apart.contains(c)) continue;
      alike[{frame.parent, frame.order, std::string(stem)}].push_back(c);
    }
    for (auto& [title, siblings] : alike) {
      std::ranges::sort(siblings, {}, [&](int c) {
        const std::string_view digits = numbered(view_.frames[c].title).digits;
        return std::pair(digits.size(), digits);
      });
      add_equal(siblings);
    }
  }

  // Adds those that follow each other and have the same structure.
  void add_equal(const Indexed<int>& siblings) {
    std::string structure_before;
    Indexed<int> equal;
    for (const int c : siblings) {
      std::string own = structure(c);
      if (own != structure_before) {
        add_family(equal);
        equal.clear();
        structure_before = std::move(own);
      }
      equal.push_back(c);
    }
    add_family(equal);
  }

  void add_family(const Indexed<int>& members) {
    if (members.empty()) return;
    const auto linked = [&](int a, int b) {  // a backward pass begins with the last one
      return view_.frames[a].order == 0 ? links_.contains({a, b}) : links_.contains({b, a});
    };
    const bool chained = std::ranges::adjacent_find(members, std::not_fn(linked)) == members.end();
    const Numbered title = numbered(view_.frames[members.front()].title);
    const std::size_t fewest = title.is_numbered() ? 2 : fewest_named;
    const bool together = title.is_listed() || (title.is_call() ? chained || members.size() >= fewest_apart
                                                                : chained && members.size() >= fewest);
    if (!together) return;
    const int first = members.front();
    if (chained && members.size() > 1) chained_.insert(first);
    families[first] = members;
    for (const int c : members) {
      representative[c] = first;
      for (int i = 0; i < members_[c].count(); ++i) becomes[members_[c][i]] = members_[first][i];
    }
  }

  // A vertex outside that leads into this block alone becomes the one that leads to the same input of the first block.
  void join_what_feeds(int block) {
    const int first = representative[block];
    for (int i = 0; i < members_[block].count(); ++i) {
      const std::span<const GraphEdge> own = inputs_[members_[block][i]], other = inputs_[members_[first][i]];
      if (own.size() != other.size()) continue;
      for (std::size_t e = 0; e < own.size(); ++e) join(own[e].from, other[e].from);
    }
  }
  bool join(int v, int with) {
    if (becomes[v] == becomes[with]) return true;
    const GraphVertex& a = view_.vertices[v];
    const GraphVertex& b = view_.vertices[with];
    const auto is_merged = [&](int user) { return becomes[user] != user; };
    if (becomes[v] != v || becomes[with] != with || a.role == GraphRole::parameter || a.is_result || b.is_result ||
        a.frame != b.frame || a.order != b.order || !std::ranges::all_of(users_[v], is_merged)) {
      return false;
    }
    const auto become = [&](int user) { return becomes[user]; };
    if (!std::ranges::equal(users_[v], users_[with], {}, become, become)) {  // something else takes it, too
      const int next = second_.try_emplace(with, v).first->second;
      return next != v && join(v, next);
    }
    if (family_of(v) != nothing) return false;
    const std::span<const GraphEdge> own = inputs_[v], other = inputs_[with];
    if (signature_of(a) != signature_of(b) || own.size() != other.size()) return false;
    becomes[v] = with;  // of its inputs this is the only user that counts
    bool all = true;
    for (std::size_t e = 0; all && e < own.size(); ++e) all = join(own[e].from, other[e].from);
    if (!all) {
      becomes[v] = v;
      return false;
    }
    joined[with].push_back(v);
    return true;
  }

  const GraphView& view_;
  const Indexed<std::span<const GraphEdge>> inputs_;  // by vertex
  Indexed<int> block_of_;                             // by frame: the block around it
  Indexed<Indexed<int>> members_;                     // by block
  std::set<std::pair<int, int>> links_;               // between blocks
  std::set<int> chained_;                             // representatives whose family is a chain
  Indexed<Indexed<int>> users_;
  std::map<int, int> second_;  // by vertex: the first of its equals that it does not stand for
};

// "x0 … 19" for x0, x1, ..., x19; else the first name.
std::string common_name(const std::vector<std::string_view>& names) {
  const auto longest = [](std::string_view a, std::string_view b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  };
  const auto [least, last] = std::ranges::minmax(names, longest);
  const Numbered first = numbered(least);
  const auto has_stem = [&](std::string_view name) { return numbered(name).stem == first.stem; };
  if (!first.stem.empty() && last != least && std::ranges::all_of(names, has_stem)) {
    return str(least, " \u2026 ", numbered(last).digits);
  }
  const auto named = std::ranges::find_if(names, [](std::string_view name) { return !name.empty(); });
  return std::string(named == names.end() ? std::string_view() : *named);
}

// Combines vertices that become one: names of operations and inputs, results, numbers.
void add_up(GraphView& view, const Indexed<int>& becomes) {
  std::map<int, std::vector<std::string_view>> names;
  for (int v = 0; v < view.vertices.count(); ++v) {
    const GraphRole role = view.vertices[v].role;
    if (becomes[v] != v && role != GraphRole::parameter && role != GraphRole::gradient_operation) {
      names.try_emplace(becomes[v], 1, view.vertices[becomes[v]].name).first->second.push_back(view.vertices[v].name);
    }
  }
  std::map<int, std::string> common;
  for (const auto& [v, all] : names) common[v] = common_name(all);
  for (auto& [v, name] : common) view.vertices[v].name = std::move(name);
  Indexed<int> measured(view.vertices.count());  // how many values of the overlay its value sums
  for (int v = 0; v < view.vertices.count(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    GraphVertex& first = view.vertices[becomes[v]];
    first.is_result |= vertex.is_result;
    first.totals.results = std::min(first.totals.results, vertex.totals.results);  // of each
    if (!vertex.totals.overlay) continue;
    if (&first != &vertex) first.totals.overlay = first.totals.overlay.value_or(0) + *vertex.totals.overlay;
    ++measured[becomes[v]];
  }
  for (int v = 0; v < view.vertices.count(); ++v) {
    if (measured[v] > 1) *view.vertices[v].totals.overlay /= measured[v];
  }
}

// Of neighbouring frames at `level` with the same structure only the first remains, unless that would close a cycle.
GraphView rolled_up_at(GraphView view, int level) {
  std::set<int> apart;  // blocks that stay as they are
  std::optional<RollUp> roll(std::in_place, view, level, apart);
  for (bool cyclic = true; cyclic;) {
    cyclic = false;
    const Indexed<bool> on_cycle = on_cycles_once_merged(view, roll->becomes, roll->hidden());
    for (int v = 0; v < view.vertices.count(); ++v) {
      const int family = roll->family_of(v);
      if (family == nothing || !on_cycle[roll->becomes[v]]) continue;
      if (roll->families[family].size() > 1) cyclic |= apart.insert(roll->block_of(v)).second;
    }
    if (cyclic) roll.emplace(view, level, apart);
  }
  const Indexed<bool> hidden = roll->hidden();
  add_up(view, roll->becomes);
  for (const auto& [first, others] : roll->joined) {
    view.vertices[first].times += others.count();
    std::erase_if(view.vertices[first].text.attributes,
                  [](const auto& attribute) { return is_position(attribute.first); });
  }
  for (const auto& [c, members] : roll->families) {
    if (members.size() == 1) continue;
    view.frames[c].times *= members.count();
    std::string& title = view.frames[c].title;
    if (numbered(title).is_call()) {
      title = str(title.substr(0, title.rfind(" (")), roll->follow_each_other(c) ? " \u21BB" : "");
    } else {
      title = str(title, " \u2026 ", numbered(view.frames[members.back()].title).digits);
    }
  }
  return merged(view, roll->becomes, Together::equal, hidden);
}

}  // namespace

GraphView rolled_up(GraphView view) {
  for (int level = 1; level <= deepest_level(view); ++level) view = rolled_up_at(std::move(view), level);
  return view;
}

}  // namespace xgrad::detail
