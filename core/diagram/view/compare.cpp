// Comparing two graphs.
#include "compare.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>
#include <utility>

#include "../../base/error.h"
#include "../../base/text.h"
#include "characters.h"
#include "labels.h"
#include "order.h"

namespace xgrad {
namespace {

using namespace detail;

constexpr std::string_view op = "compare_graphs";

void check(const GraphView& view, std::string_view which) {
  const auto count = std::ssize(view.vertices);
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    const GraphEdge& edge = view.edges[e];
    if (edge.from >= 0 && edge.from < edge.to && edge.to < count) continue;
    fail<ValueError>(op, which, ": edge ", e, " leads from vertex ", edge.from, " to ", edge.to, " of ", count,
                     "; vertices are numbered inputs before results");
  }
}

bool is_found_by_name(const GraphVertex& vertex) {
  return !is_operation(vertex) && vertex.role != GraphRole::module && !vertex.name.empty();
}

// Everything that two vertices in the same place have in common.
std::string token_of(const GraphVertex& vertex) {
  const std::string& word = vertex.role == GraphRole::module ? vertex.path : vertex.op;
  return cat(static_cast<int>(vertex.role), '\0', word, '\0', vertex.name);
}

// The group in which a vertex is searched for: its frame and its pass.
using Group = std::pair<int, std::string>;
std::map<Group, std::vector<int>> groups_of(const GraphView& view) {
  std::map<Group, std::vector<int>> groups;
  for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const std::string around = vertex.frame == nothing ? std::string() : view.frames[vertex.frame].path;
    // Named leaves are recognised by their names wherever they are drawn.
    groups[is_found_by_name(vertex) ? Group{nothing, full_name(vertex)} : Group{vertex.order, around}].push_back(v);
  }
  return groups;
}

// The longest common subsequence of two lists, as positions in both (Wagner and Fischer 1974).
std::vector<std::pair<std::size_t, std::size_t>> common(const std::vector<std::string>& a,
                                                        const std::vector<std::string>& b) {
  constexpr std::size_t most_cells = 50'000'000;
  std::size_t begin = 0, end_a = a.size(), end_b = b.size();
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  while (begin < std::min(end_a, end_b) && a[begin] == b[begin]) {
    pairs.emplace_back(begin, begin);
    ++begin;
  }
  std::vector<std::pair<std::size_t, std::size_t>> tail;
  while (std::min(end_a, end_b) > begin && a[end_a - 1] == b[end_b - 1]) tail.emplace_back(--end_a, --end_b);
  const std::size_t rows = end_a - begin, columns = end_b - begin;
  if (rows > 0 && columns > most_cells / rows) {
    fail<LimitError>(op, "two modules with ", a.size(), " and ", b.size(),
                     " vertices are too different to be compared; fold them");
  }
  // longest[i][j]: for a from begin + i on and b from begin + j on.
  std::vector<int> longest((rows + 1) * (columns + 1));
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return longest[i * (columns + 1) + j]; };
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      at(i, j) = a[begin + i] == b[begin + j] ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
    if (a[begin + i] == b[begin + j]) {
      pairs.emplace_back(begin + i++, begin + j++);
    } else {
      ++(at(i + 1, j) >= at(i, j + 1) ? i : j);
    }
  }
  pairs.insert(pairs.end(), tail.rbegin(), tail.rend());
  return pairs;
}

// The differences between two vertices in the same place, in words.
std::vector<std::string> differences(const GraphVertex& before, const GraphVertex& after) {
  std::vector<std::string> words;
  const auto compare = [&](std::string_view what, const std::string& now, const std::string& then) {
    if (now == then) return;
    const std::string what_now = now.empty() ? cat("no ", what) : cat(what, what.empty() ? "" : " ", now);
    words.push_back(cat(what_now, ", was ", then.empty() ? "none" : then));
  };
  const auto size = [](const std::optional<Shape>& shape) { return shape ? shape_text(*shape) : std::string(); };
  const auto number = [](const std::optional<Real>& value) { return value ? cat(*value) : std::string(); };
  compare("", std::string(role_name(after.role)), std::string(role_name(before.role)));
  compare("name", printable(after.name), printable(before.name));
  compare("shape", size(after.shape), size(before.shape));
  compare("number", number(after.number), number(before.number));
  compare("module", after.what, before.what);
  std::map<std::string, std::pair<std::string, std::string>> settings;  // by name: after and before
  const auto value_of = [](const std::string& value) { return value.empty() ? std::string("yes") : value; };
  for (const auto& [name, value] : after.attributes) settings[name].first = value_of(value);
  for (const auto& [name, value] : before.attributes) settings[name].second = value_of(value);
  for (const auto& [name, values] : settings) compare(name, values.first, values.second);
  compare("parameters", amount_text(static_cast<double>(after.parameters), ""),
          amount_text(static_cast<double>(before.parameters), ""));
  compare("operations", cat(after.operations), cat(before.operations));
  compare("keeps", amount_text(static_cast<double>(after.kept_bytes), "B"),
          amount_text(static_cast<double>(before.kept_bytes), "B"));
  compare("times", cat(after.times), cat(before.times));
  return words;
}

class Comparer {
 public:
  Comparer(const GraphView& before, const GraphView& after)
      : before_(before),
        after_(after),
        partner_(before.vertices.size(), nothing),
        is_joined_(after.vertices.size()),
        moved_before_(before.vertices.size()),
        moved_after_(after.vertices.size()) {}

  GraphComparison compare() && {
    find_partners();
    part_where_cycles_close();
    add_frames();
    add_vertices();
    add_edges();
    const std::vector<int> numbers = topological_numbers(result_.view);
    result_.view = renumbered(std::move(result_.view), numbers);
    count();
    return std::move(result_);
  }

 private:
  void find_partners() {
    const std::map<Group, std::vector<int>> old_groups = groups_of(before_), new_groups = groups_of(after_);
    const auto tokens = [](const GraphView& view, const Group& group, const std::vector<int>& members) {
      std::vector<std::string> all;
      for (const int v : members) {
        all.push_back(group.first == nothing ? std::string() : token_of(view.vertices[v]));
      }
      return all;
    };
    for (const auto& [group, olds] : old_groups) {
      const auto news = new_groups.find(group);
      if (news == new_groups.end()) continue;
      for (const auto& [i, j] : common(tokens(before_, group, olds), tokens(after_, group, news->second))) {
        join(olds[i], news->second[j]);
      }
      join_rest(olds, news->second, token_of);
      join_rest(olds, news->second,
                [](const GraphVertex& vertex) { return is_operation(vertex) ? vertex.op : token_of(vertex); });
    }
  }
  void join(int old_vertex, int new_vertex) {
    partner_[old_vertex] = new_vertex;
    is_joined_[new_vertex] = true;
  }

  // Matches vertices that stand elsewhere in the same module, and those that have another name.
  template <class Token>
  void join_rest(const std::vector<int>& olds, const std::vector<int>& news, const Token& token) {
    std::map<std::string, std::vector<int>> waiting;  // the first one is at the back
    for (std::size_t i = news.size(); i-- > 0;) {
      if (!is_joined_[news[i]]) waiting[token(after_.vertices[news[i]])].push_back(news[i]);
    }
    for (const int v : olds) {
      if (partner_[v] != nothing) continue;
      const auto found = waiting.find(token(before_.vertices[v]));
      if (found == waiting.end() || found->second.empty()) continue;
      join(v, found->second.back());
      found->second.pop_back();
    }
  }

  // The number of a vertex in both graphs together: first all of the new one, then those of the old one alone.
  std::vector<int> numbers_before() const {
    std::vector<int> numbers = partner_;
    int next = static_cast<int>(after_.vertices.size());
    for (int& number : numbers) {
      if (number == nothing) number = next++;
    }
    return numbers;
  }

  // A cycle of both together needs two vertices that have changed places. Of those on a cycle the longest sequence that
  // has the same order in both stays together; the others appear once for each graph.
  void part_where_cycles_close() {
    for (bool cyclic = true; cyclic;) {
      const std::vector<int> numbers = numbers_before();
      std::vector<std::pair<int, int>> arrows;
      for (const GraphEdge& edge : before_.edges) arrows.emplace_back(numbers[edge.from], numbers[edge.to]);
      for (const GraphEdge& edge : after_.edges) arrows.emplace_back(edge.from, edge.to);
      const auto count = static_cast<int>(before_.vertices.size() + after_.vertices.size());
      const std::vector<int> cycle_of = cycles(count, arrows);
      std::map<int, std::vector<int>> pairs;  // by cycle: old numbers of vertices in both
      for (int v = 0; std::cmp_less(v, partner_.size()); ++v) {
        if (partner_[v] != nothing && cycle_of[partner_[v]] != nothing) pairs[cycle_of[partner_[v]]].push_back(v);
      }
      cyclic = !pairs.empty();
      for (const auto& [cycle, olds] : pairs) part_out_of_order(olds);
    }
  }

  void part_out_of_order(const std::vector<int>& olds) {
    std::vector<std::string> old_order, new_order;
    std::vector<int> news;
    for (const int v : olds) news.push_back(partner_[v]);
    for (const int v : news) old_order.push_back(cat(v));
    std::ranges::sort(news);
    for (const int v : news) new_order.push_back(cat(v));
    std::vector<bool> stays(olds.size());
    for (const auto& [i, j] : common(old_order, new_order)) stays[i] = true;
    for (std::size_t i = 0; i < olds.size(); ++i) {
      if (stays[i]) continue;
      moved_before_[olds[i]] = true;
      moved_after_[std::exchange(partner_[olds[i]], nothing)] = true;
    }
  }

  void add_frames() {
    std::vector<GraphFrame>& frames = result_.view.frames;
    frames = after_.frames;
    std::map<std::pair<int, std::string>, int> known;
    for (int c = 0; std::cmp_less(c, frames.size()); ++c) known.emplace(std::pair(frames[c].order, frames[c].path), c);
    for (const GraphFrame& frame : before_.frames) {
      const auto [place, is_new] = known.try_emplace({frame.order, frame.path}, static_cast<int>(frames.size()));
      frame_.push_back(place->second);
      if (is_new) {
        frames.push_back(frame);
        if (frame.parent != nothing) frames.back().parent = frame_[frame.parent];
        continue;
      }
      GraphFrame& now = frames[place->second];
      if (now.what != frame.what) append(now.what, cat(", was ", frame.what));
      if (now.times != frame.times) {
        append(now.what, cat(", was \u00D7", frame.times));
        result_.modules.push_back(cat("module '", now.path, "': ", now.times, " times, was ", frame.times));
      }
    }
  }

  // New vertices in their order, each old one after the one that it followed.
  void add_vertices() {
    struct Slot {
      int behind;  // a new vertex
      int old;     // nothing: the new vertex itself
    };
    std::vector<Slot> slots;
    for (int v = 0; std::cmp_less(v, after_.vertices.size()); ++v) slots.push_back({v, nothing});
    int behind = nothing;
    for (int v = 0; std::cmp_less(v, partner_.size()); ++v) {
      if (partner_[v] != nothing) {
        behind = partner_[v];
      } else {
        slots.push_back({behind, v});
      }
    }
    std::ranges::stable_sort(slots, {}, [](const Slot& slot) { return std::tuple(slot.behind, slot.old); });
    number_before_.assign(before_.vertices.size(), nothing);
    number_after_.assign(after_.vertices.size(), nothing);
    std::vector<int> old_of(after_.vertices.size(), nothing);
    for (std::size_t v = 0; v < partner_.size(); ++v) {
      if (partner_[v] != nothing) old_of[partner_[v]] = static_cast<int>(v);
    }
    for (const auto& [new_vertex, old_vertex] : slots) {
      const int number = static_cast<int>(result_.view.vertices.size());
      if (old_vertex != nothing) {
        number_before_[old_vertex] = number;
        GraphVertex& vertex = add_vertex(before_.vertices[old_vertex]);
        vertex.change = GraphChange::removed;
        vertex.remarks = {moved_before_[old_vertex] ? "moved away" : "removed"};
        if (vertex.frame != nothing) vertex.frame = frame_[vertex.frame];
        continue;
      }
      number_after_[new_vertex] = number;
      GraphVertex& vertex = add_vertex(after_.vertices[new_vertex]);
      const int old = old_of[new_vertex];
      if (old == nothing) {
        vertex.change = GraphChange::added;
        vertex.remarks = {moved_after_[new_vertex] ? "moved here" : "added"};
      } else {
        number_before_[old] = number;
        vertex.is_result |= before_.vertices[old].is_result;
        vertex.remarks = differences(before_.vertices[old], vertex);
        vertex.change = vertex.remarks.empty() ? GraphChange::same : GraphChange::changed;
      }
    }
  }
  GraphVertex& add_vertex(const GraphVertex& original) {
    GraphVertex& vertex = result_.view.vertices.emplace_back(original);
    vertex.overlay.reset();
    vertex.colours = {};
    vertex.dimmed = false;
    vertex.rule_of = nothing;
    return vertex;
  }

  void add_edges() {
    std::map<std::pair<int, int>, std::vector<GraphEdge>> old_edges;  // by their ends
    std::map<int, std::vector<int>> old_inputs, new_inputs;           // by vertex, in their order
    for (GraphEdge edge : before_.edges) {
      edge.from = number_before_[edge.from];
      edge.to = number_before_[edge.to];
      old_edges[{edge.from, edge.to}].push_back(edge);
      old_inputs[edge.to].push_back(edge.from);
    }
    for (GraphEdge edge : after_.edges) {
      edge.from = number_after_[edge.from];
      edge.to = number_after_[edge.to];
      new_inputs[edge.to].push_back(edge.from);
      const auto old = old_edges.find({edge.from, edge.to});
      const bool is_new = old == old_edges.end() || old->second.empty();
      if (!is_new) old->second.pop_back();
      add_edge(edge, is_new ? GraphChange::added : GraphChange::same);
    }
    for (const auto& [ends, edges] : old_edges) {
      for (const GraphEdge& edge : edges) add_edge(edge, GraphChange::removed);
    }
    for (auto& [to, inputs] : new_inputs) {
      std::vector<int>& before = old_inputs[to];
      if (inputs == before) continue;
      std::ranges::sort(inputs);
      std::ranges::sort(before);
      if (inputs != before) continue;
      GraphVertex& vertex = result_.view.vertices[to];
      vertex.change = GraphChange::changed;
      vertex.remarks.emplace_back("inputs in another order");
    }
  }
  void add_edge(const GraphEdge& original, GraphChange change) {
    GraphEdge& edge = result_.view.edges.emplace_back(original);
    edge.change = change;
    edge.dimmed = false;
    result_.edges_added += change == GraphChange::added;
    result_.edges_removed += change == GraphChange::removed;
  }

  void count() {
    for (const GraphVertex& vertex : result_.view.vertices) {
      result_.same += vertex.change == GraphChange::same;
      result_.changed += vertex.change == GraphChange::changed;
      result_.added += vertex.change == GraphChange::added;
      result_.removed += vertex.change == GraphChange::removed;
    }
    result_.view.remark = cat(
        result_.added, " added, ", result_.removed, " removed, ", result_.changed, " changed, ", result_.same,
        " the same; ", result_.modules.empty() ? std::string() : cat("modules: ", result_.modules.size(), " changed; "),
        "arrows: ", result_.edges_added, " added, ", result_.edges_removed, " removed");
  }

  const GraphView& before_;
  const GraphView& after_;
  std::vector<int> partner_;     // by old vertex: the new one in its place
  std::vector<bool> is_joined_;  // by new vertex
  std::vector<bool> moved_before_, moved_after_;
  std::vector<int> frame_;                         // by old frame: its frame in the result
  std::vector<int> number_before_, number_after_;  // in the result
  GraphComparison result_;
};

}  // namespace

GraphComparison compare_graphs(const GraphView& before, const GraphView& after) {
  check(before, "before");
  check(after, "after");
  return Comparer(before, after).compare();
}

std::string to_string(const GraphComparison& comparison) {
  std::string text = cat(comparison.view.remark, '\n');
  for (const std::string& module : comparison.modules) append(text, cat("~ ", printable(module), '\n'));
  for (const GraphVertex& vertex : comparison.view.vertices) {
    if (vertex.change == GraphChange::same) continue;
    const char sign = vertex.change == GraphChange::added ? '+' : vertex.change == GraphChange::removed ? '-' : '~';
    append(text, cat(sign, ' ', printable(called(vertex))));
    for (const std::string& remark : vertex.remarks) {
      append(text, cat(&remark == &vertex.remarks.front() ? ": " : "; ", printable(remark)));
    }
    text += '\n';
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const GraphComparison& comparison) { return out << to_string(comparison); }

}  // namespace xgrad
