// From nodes to a GraphView: collect, roll up what is built alike, fold what is nested too deep.
#include "view.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace xgrad {
namespace {

constexpr int nothing = -1;
constexpr int most_levels = 32;             // of nested frames; what lies deeper counts as one
constexpr std::size_t fits_on_a_page = 64;  // edges

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

// Finds clusters by their paths, and makes those that are missing.
class ClusterTree {
 public:
  explicit ClusterTree(std::vector<GraphCluster>& clusters) : clusters_(clusters) {}

  int needed(int order, std::string_view path) {
    int cluster = nothing;
    for (const std::string_view level : levels_of(path)) {
      const std::string_view prefix = path.substr(0, level.data() + level.size() - path.data());
      const auto [place, is_new] = known_.try_emplace({order, std::string(prefix)}, static_cast<int>(clusters_.size()));
      if (is_new) {
        clusters_.push_back(
            {.path = std::string(prefix), .title = std::string(level), .parent = cluster, .order = order});
      }
      cluster = place->second;
    }
    return cluster;
  }
  // The innermost cluster that `name`, a dotted name, lies in.
  int around(int order, std::string_view name) const {
    for (std::size_t end = name.rfind('.'); end != name.npos && end > 0; end = name.rfind('.', end - 1)) {
      if (const auto place = known_.find({order, std::string(name.substr(0, end))}); place != known_.end()) {
        return place->second;
      }
    }
    return nothing;
  }
  int common(int a, int b) const {
    const auto above = [this](int c) { return clusters_[c].parent; };
    while (a != b) (a > b ? a : b) = above(std::max(a, b));  // parents have smaller numbers
    return a;
  }

 private:
  std::vector<GraphCluster>& clusters_;
  std::map<std::pair<int, std::string>, int> known_;
};

// All nodes that the results depend on as they were recorded, inputs before results, leaves right before their first
// use.
std::vector<const Node*> collected(const Tensors& results) {
  struct Place {
    std::uint64_t of;  // the id of the node itself or, of a leaf, of the first node that uses it
    bool is_operation;
    std::int64_t input;
    auto operator<=>(const Place&) const = default;
  };
  std::unordered_map<const Node*, Place> places;
  std::vector<const Node*> stack;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Node* node = results[i].needed_node().get();
    const Place here{node->id, !node->is_leaf(), static_cast<std::int64_t>(i)};
    if (places.try_emplace(node, here).second) stack.push_back(node);
  }
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    const std::span<const Edge> edges = node->edges();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Node* to = edges[i].to.get();
      const Place here = to->is_leaf() ? Place{node->id, false, static_cast<std::int64_t>(i)} : Place{to->id, true, 0};
      const auto [place, is_new] = places.try_emplace(to, here);
      if (is_new) stack.push_back(to);
      place->second = std::min(place->second, here);
    }
  }
  std::vector<std::pair<Place, const Node*>> sorted;
  sorted.reserve(places.size());
  for (const auto& [node, place] : places) sorted.emplace_back(place, node);
  std::ranges::sort(sorted, {}, &std::pair<Place, const Node*>::first);
  std::vector<const Node*> nodes;
  nodes.reserve(sorted.size());
  for (const auto& [place, node] : sorted) nodes.push_back(node);
  return nodes;
}

GraphRole role_of(const Node& node) {
  if (std::string_view(node.op) == "seed") return GraphRole::seed;
  if (!node.is_leaf()) return node.order == 0 ? GraphRole::operation : GraphRole::gradient_operation;
  if (node.requires_grad) return GraphRole::parameter;
  return node.rank == 0 && node.name().empty() ? GraphRole::constant : GraphRole::input;
}

GraphVertex vertex_of(const Node& node) {
  GraphVertex vertex{
      .role = role_of(node), .op = node.op, .name = std::string(node.name()), .path = {}, .shape = node.shape()};
  if (node.is_leaf()) {
    if (node.kept && vertex.name.empty()) vertex.number = node.kept->data[0];
    vertex.order = std::numeric_limits<int>::max();
  } else {
    vertex.order = node.order;
    if (node.scope) vertex.path = *node.scope;
    if (node.kept) vertex.kept_bytes = node.shape().numel() * static_cast<std::int64_t>(sizeof(Real));
  }
  return vertex;
}

// The whole graph, nothing left out.
GraphView everything(const Tensors& results, const std::vector<const Node*>& nodes) {
  GraphView view;
  ClusterTree tree(view.clusters);
  std::unordered_map<const Node*, int> number;
  for (const Node* node : nodes) {
    number.emplace(node, static_cast<int>(view.vertices.size()));
    GraphVertex& vertex = view.vertices.emplace_back(vertex_of(*node));
    if (!node->is_leaf()) vertex.cluster = tree.needed(vertex.order, vertex.path);
  }
  for (const Tensor& result : results) {
    GraphVertex& vertex = view.vertices[number.at(result.node().get())];
    vertex.is_result = true;
    if (result.history() == History::no_grad) vertex.note = "computed under NoGrad: no graph";
    if (result.history() == History::gradient) vertex.note = "a gradient without create_graph: no graph";
  }

  for (const Node* node : nodes) {
    int input = 0;
    const int to = number.at(node);
    for (const Edge& edge : node->edges()) {
      const int from = number.at(edge.to.get());
      view.edges.push_back({.from = from, .to = to, .input = input++, .shape = edge.to->shape()});
      if (edge.to->is_leaf()) view.vertices[from].order = std::min<int>(view.vertices[from].order, node->order);
    }
  }
  for (GraphVertex& vertex : view.vertices) {
    if (vertex.order == std::numeric_limits<int>::max()) vertex.order = 0;
    if (vertex.role == GraphRole::input && vertex.order > 0 && vertex.name.empty()) vertex.role = GraphRole::constant;
  }

  // A named leaf is drawn where its name says, a constant where it is used.
  std::vector<bool> placed(nodes.size());
  for (GraphVertex& vertex : view.vertices) {
    if (vertex.role != GraphRole::parameter && vertex.role != GraphRole::input) continue;
    vertex.cluster = tree.around(0, vertex.name);
    if (vertex.cluster == nothing) continue;
    vertex.path = view.clusters[vertex.cluster].path;
    vertex.name.erase(0, vertex.path.size() + 1);
  }
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& leaf = view.vertices[edge.from];
    const GraphVertex& user_vertex = view.vertices[edge.to];
    if ((leaf.role != GraphRole::constant && leaf.role != GraphRole::seed) || user_vertex.order != leaf.order) continue;
    const int user = user_vertex.cluster;
    leaf.cluster = placed[edge.from] ? tree.common(leaf.cluster, user) : user;
    placed[edge.from] = true;
  }
  return view;
}

// The level of each cluster: 1 for those without a parent.
std::vector<int> levels(const std::vector<GraphCluster>& clusters) {
  std::vector<int> result;
  for (const GraphCluster& cluster : clusters) {
    result.push_back(cluster.parent == nothing ? 1 : result[cluster.parent] + 1);
  }
  return result;
}

// For each cluster its ancestor (or itself) at `level`; nothing for those above it.
std::vector<int> ancestors_at(const std::vector<GraphCluster>& clusters, int level) {
  const std::vector<int> levels_of_all = levels(clusters);
  std::vector<int> result;
  for (std::size_t c = 0; c < clusters.size(); ++c) {
    const int parent = clusters[c].parent;
    result.push_back(levels_of_all[c] < level    ? nothing
                     : levels_of_all[c] == level ? static_cast<int>(c)
                                                 : result[parent]);
  }
  return result;
}

// A view of the vertices v with becomes[v] == v; the others are drawn as the vertex that they become. Left out are
// edges for which `hidden` says so, new loops, repeated edges, and clusters that are now empty.
template <class Hidden>
GraphView merged(const GraphView& view, const std::vector<int>& becomes, const Hidden& hidden) {
  GraphView result;
  std::vector<int> number(view.vertices.size(), nothing);
  std::vector<bool> used(view.clusters.size());
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    if (std::cmp_not_equal(becomes[v], v)) continue;
    number[v] = static_cast<int>(result.vertices.size());
    result.vertices.push_back(view.vertices[v]);
    for (int c = view.vertices[v].cluster; c != nothing && !used[c]; c = view.clusters[c].parent) used[c] = true;
  }
  std::vector<int> cluster_number(view.clusters.size(), nothing);
  for (std::size_t c = 0; c < view.clusters.size(); ++c) {
    if (!used[c]) continue;
    cluster_number[c] = static_cast<int>(result.clusters.size());
    GraphCluster& cluster = result.clusters.emplace_back(view.clusters[c]);
    if (cluster.parent != nothing) cluster.parent = cluster_number[cluster.parent];
  }
  for (GraphVertex& vertex : result.vertices) {
    if (vertex.cluster != nothing) vertex.cluster = cluster_number[vertex.cluster];
  }
  for (const GraphEdge& edge : view.edges) {
    const int from = becomes[edge.from];
    const int to = becomes[edge.to];
    if (hidden(edge) || (from == to && edge.from != edge.to)) continue;
    const bool into_module = result.vertices[number[to]].role == GraphRole::module;
    result.edges.push_back(
        {.from = number[from], .to = number[to], .input = into_module ? 0 : edge.input, .shape = edge.shape});
  }
  const auto key = [](const GraphEdge& edge) { return std::tuple(edge.to, edge.input, edge.from); };
  std::ranges::stable_sort(result.edges, {}, key);
  const auto alike = [&](const GraphEdge& a, const GraphEdge& b) { return key(a) == key(b); };
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

// How the vertices of a cluster are built and connected. Two clusters with equal texts differ in their names only.
std::string structure(const GraphView& view, int cluster, const std::vector<int>& members,
                      const std::vector<std::pair<std::size_t, std::size_t>>& edges_into) {
  const std::string& path = view.clusters[cluster].path;
  std::unordered_map<int, std::size_t> number;
  for (const int v : members) number.emplace(v, number.size());
  std::string text;
  for (const int v : members) {
    const GraphVertex& vertex = view.vertices[v];
    const std::string_view inner = std::string_view(vertex.path).substr(std::min(path.size(), vertex.path.size()));
    append(text, cat(static_cast<int>(vertex.role), '\0', vertex.op, '\0', vertex.name, '\0', inner, '\0',
                     *vertex.shape, '\0', vertex.number ? cat(*vertex.number) : std::string()));
    const auto [first, last] = edges_into[v];
    for (std::size_t e = first; e < last; ++e) {
      append(text, cat(' ', number.try_emplace(view.edges[e].from, number.size()).first->second));
    }
    text += '\n';
  }
  return text;
}

// Of neighbouring clusters at `level` that are built alike only the first remains.
GraphView rolled_up(GraphView view, int level) {
  const std::vector<int> block_of = ancestors_at(view.clusters, level);
  std::vector<std::vector<int>> members(view.clusters.size());
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    if (const int c = view.vertices[v].cluster; c != nothing && block_of[c] != nothing) {
      members[block_of[c]].push_back(static_cast<int>(v));
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> edges_into(view.vertices.size());
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    auto& [first, last] = edges_into[view.edges[e].to];
    if (last == 0) first = e;
    last = e + 1;
  }

  std::map<std::tuple<int, int, std::string>, std::vector<int>> families;
  for (std::size_t c = 0; c < view.clusters.size(); ++c) {
    const GraphCluster& cluster = view.clusters[c];
    const std::string_view stem = stem_and_number(cluster.title).first;
    if (members[c].empty() || stem.empty()) continue;
    families[{cluster.parent, cluster.order, std::string(stem)}].push_back(static_cast<int>(c));
  }

  std::vector<int> becomes(view.vertices.size());
  for (std::size_t v = 0; v < becomes.size(); ++v) becomes[v] = static_cast<int>(v);
  std::vector<int> representative(view.clusters.size(), nothing);
  std::vector<int> last(view.clusters.size(), nothing);
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
        ++view.clusters[first].times;
        last[first] = c;
        for (std::size_t i = 0; i < members[c].size(); ++i) {
          becomes[members[c][i]] = members[first][i];
          view.vertices[members[first][i]].is_result |= view.vertices[members[c][i]].is_result;
        }
      }
      representative[c] = first;
    }
  }
  for (std::size_t c = 0; c < view.clusters.size(); ++c) {
    if (last[c] == nothing) continue;
    std::string& title = view.clusters[c].title;
    const std::string& other = view.clusters[last[c]].title;  // a backward pass begins with the last one
    const bool ascending = std::pair(title.size(), title) < std::pair(other.size(), other);
    title = cat(ascending ? title : other, " \u2026 ", stem_and_number(ascending ? other : title).second);
  }
  const auto block = [&](int v) {
    const int c = view.vertices[v].cluster;
    return c == nothing ? nothing : block_of[c];
  };
  return merged(view, becomes, [&](const GraphEdge& edge) {  // what leads from one block to the next
    const int from = block(edge.from);
    const int to = block(edge.to);
    return from != to && from != nothing && to != nothing && representative[from] != nothing &&
           representative[from] == representative[to];
  });
}

// Every module below `depth` becomes one vertex.
GraphView folded(const GraphView& view, int depth) {
  const std::vector<int> box_of = ancestors_at(view.clusters, depth + 1);
  std::vector<int> first_of(view.clusters.size(), nothing);
  std::vector<int> becomes;
  std::vector<GraphVertex> boxes = view.vertices;
  const auto times_within = [&](int cluster, int box) {
    int times = 1;
    for (; cluster != box; cluster = view.clusters[cluster].parent) times *= view.clusters[cluster].times;
    return times;
  };
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const int box = vertex.cluster == nothing ? nothing : box_of[vertex.cluster];
    if (box == nothing) {
      becomes.push_back(static_cast<int>(v));
      continue;
    }
    int& first = first_of[box];
    if (first == nothing) {
      first = static_cast<int>(v);
      const GraphCluster& cluster = view.clusters[box];
      boxes[v] = {.role = GraphRole::module,
                  .op = cluster.title,
                  .name = {},
                  .path = cluster.path,
                  .order = cluster.order,
                  .cluster = cluster.parent,
                  .times = cluster.times};
    }
    becomes.push_back(first);
    GraphVertex& module = boxes[first];
    const int times = times_within(vertex.cluster, box);
    module.kept_bytes += times * vertex.kept_bytes;
    module.results += times * vertex.is_result;
    module.operations += times * is_operation(vertex);
    if (vertex.role == GraphRole::parameter) module.parameters += times * vertex.shape->numel();
  }
  for (const GraphEdge& edge : view.edges) {
    GraphVertex& from = boxes[becomes[edge.from]];
    const bool leaves = becomes[edge.from] != becomes[edge.to] && view.vertices[edge.to].order == from.order;
    if (from.role == GraphRole::module && leaves && is_operation(view.vertices[edge.from])) from.shape = edge.shape;
  }
  const GraphView boxed{.vertices = std::move(boxes), .edges = view.edges, .clusters = view.clusters};
  return merged(boxed, becomes, [](const GraphEdge&) { return false; });
}

}  // namespace

GraphView GraphView::of(const Tensors& results, const GraphOptions& options, std::string_view caller) {
  if (results.empty()) fail<GraphError>(caller, "no tensor was given");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) fail<GraphError>(caller, "tensor ", i, " is undefined");
  }
  if (options.depth < automatic_depth) fail<ValueError>(caller, "depth ", options.depth, " is negative");
  const std::vector<const Node*> nodes = collected(results);
  const auto limit = [&](std::int64_t count) {
    if (count <= options.max_nodes) return;
    fail<LimitError>(caller, count, " vertices to draw, max_nodes is ", options.max_nodes,
                     "; fold modules with .depth, or raise .max_nodes");
  };
  if (std::ranges::none_of(nodes, [](const Node* node) { return node->scope != nullptr; })) {
    limit(static_cast<std::int64_t>(nodes.size()));
  }
  GraphView view = everything(results, nodes);
  const std::vector<int> all_levels = levels(view.clusters);
  const int deepest = all_levels.empty() ? 0 : std::ranges::max(all_levels);
  if (options.roll_up) {
    for (int level = 1; level <= deepest; ++level) view = rolled_up(std::move(view), level);
  }
  if (options.depth != automatic_depth) {
    if (options.depth < deepest) view = folded(view, options.depth);
  } else if (view.edges.size() > fits_on_a_page) {
    GraphView smaller = view;
    for (int depth = deepest; depth-- > 0 && smaller.edges.size() > fits_on_a_page;) smaller = folded(view, depth);
    view = std::move(smaller);
  }
  limit(static_cast<std::int64_t>(view.vertices.size()));
  return view;
}

}  // namespace xgrad
