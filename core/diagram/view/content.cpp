// From nodes of the graph to vertices.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "../../base/assert.h"
#include "../../base/error.h"
#include "../../base/scope.h"
#include "../../base/text.h"
#include "../../graph/grad.h"
#include "equations.h"
#include "folding.h"
#include "frames.h"
#include "labels.h"
#include "topology.h"
#include "values.h"

namespace xgrad::detail {
namespace {

// Whether the node is a leaf. The result of an operation without gradient is none: its trace has the inputs.
bool is_data(const Node& node) { return node.is_leaf() && (!node.trace() || node.requires_grad); }

std::size_t input_count(const Node& node) {
  return is_data(node) ? 0 : node.is_leaf() ? node.trace()->inputs.size() : node.edges().size();
}
const Node* input_of(const Node& node, std::size_t i) {
  return node.is_leaf() ? node.trace()->inputs[i].get() : node.edges()[i].to.get();
}

// All nodes that the results depend on, inputs before results, in the order of the operations' inputs; leaves come
// right before their first use.
std::vector<const Node*> collected(const Tensors& results) {
  struct Visit {
    const Node* node;
    std::size_t next_input = 0;
  };
  std::vector<const Node*> nodes;
  std::unordered_set<const Node*> found;
  std::vector<Visit> stack;
  for (const Tensor& result : results) {
    const Node* root = detail::Engine::ensure_node(result).get();
    if (!found.insert(root).second) continue;
    stack.push_back({root});
    while (!stack.empty()) {
      Visit& top = stack.back();
      const std::size_t count = input_count(*top.node);
      if (top.next_input < count) {
        const Node* to = input_of(*top.node, top.next_input++);
        if (!is_data(*to) && found.insert(to).second) stack.push_back({to});
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const Node* to = input_of(*top.node, i);
        if (is_data(*to) && found.insert(to).second) nodes.push_back(to);
      }
      nodes.push_back(top.node);
      stack.pop_back();
    }
  }
  return nodes;
}

GraphRole role_of(const Node& node) {
  if (node.role == NodeRole::seed) return GraphRole::seed;
  if (!is_data(node)) return node.grad_order == 0 ? GraphRole::operation : GraphRole::gradient_operation;
  if (node.requires_grad) return GraphRole::parameter;
  return node.rank == 0 && node.name().empty() ? GraphRole::constant : GraphRole::input;
}

// An attribute that is a list: "[0, 2]", or "3" for a single number. The sizes of a window are "2 x 3", or "2" if all
// are equal.
std::string text_of(std::string_view name, const Shape& numbers) {
  constexpr std::array<std::string_view, 5> of_windows{"kernel", "stride", "padding", "output_padding", "dilation"};
  if (numbers.rank() == 1) return str(numbers[0]);
  if (std::ranges::find(of_windows, name) == of_windows.end()) return str(numbers);
  if (std::ranges::count(numbers, numbers[0]) == std::ssize(numbers)) return str(numbers[0]);
  std::string text;
  for (const std::int64_t number : numbers) append(text, str(text.empty() ? "" : " x ", number));
  return text;
}

// The attributes of an operation, except arrays, which are vertices.
std::vector<std::pair<std::string, std::string>> attributes_of(const Node& node) {
  std::vector<std::pair<std::string, std::string>> texts;
  if (!node.extras) return texts;
  for (const Attribute& attribute : node.extras->attributes) {
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::same_as<T, bool>) {
            texts.emplace_back(attribute.name, value ? "" : "no");
          } else if constexpr (std::same_as<T, double>) {
            texts.emplace_back(attribute.name, rounded(value));
          } else if constexpr (std::same_as<T, Shape>) {
            texts.emplace_back(attribute.name, text_of(attribute.name, value));
          } else if constexpr (std::same_as<T, std::int64_t> || std::same_as<T, std::string_view>) {
            texts.emplace_back(attribute.name, str(value));
          }
        },
        attribute.value);
  }
  return texts;
}

GraphVertex vertex_of(const Node& node) {
  GraphVertex vertex{.role = role_of(node),
                     .op = node.op,
                     .name = std::string(node.name()),
                     .shape = node.shape(),
                     .text = {.attributes = attributes_of(node)}};
  if (is_data(node)) {
    if (node.saved && vertex.name.empty()) vertex.constant = node.saved->data[0];
    vertex.order = std::numeric_limits<int>::max();
    if (node.unrecorded_gradient) vertex.text.note = "a gradient without create_graph: no graph";
  } else {
    vertex.order = node.grad_order;
    if (node.place) vertex.path = node.place->path;
  }
  return vertex;
}

// By node: the run of a rule that it belongs to, where the runs of a rule are several vertices.
using RuleRuns = std::unordered_map<const Node*, int>;

// Makes the view of a list of nodes.
class Collector {
 public:
  Collector(const Tensors& results, const GraphOptions& options, std::string_view caller, RuleRuns runs)
      : results_(results), options_(options), caller_(caller), runs_(std::move(runs)), nodes_(collected(results)) {
    add_vertices();
    add_edges();
  }

  // A rule that ran in several passes is one vertex. Where the gradient of one pass is used by a later one, that vertex
  // is on a cycle with what was computed between its runs. Nodes have ids in the order in which they were made.
  RuleRuns runs_on_cycles() const {
    Indexed<int> itself(view_.vertices.count());
    std::iota(itself.begin(), itself.end(), 0);
    const Indexed<bool> on_cycle = on_cycles_once_merged(view_, itself);
    std::map<std::uint64_t, const Node*> in_order;
    for (const Node* node : nodes_) {
      if (on_cycle[index_of(node)]) in_order.emplace(node->id, node);
    }
    RuleRuns runs;
    int vertex = nothing, run = 0;
    for (const auto& [id, node] : in_order) {
      if (index_of(node) != vertex) ++run;
      vertex = index_of(node);
      runs.emplace(node, run);
    }
    return runs;
  }

  GraphView view() && {
    add_given();
    mark_results();
    settle_leaves();
    count_saved();
    if (options_.values) add_numbers(*options_.values);
    const GraphOverlay overlay = options_.overlay.value_or(GraphOverlay{});
    for (const Node* node : nodes_) {
      if (overlay.of_node) measure(view_.vertices[index_of(node)], overlay.of_node(*node));
    }
    if (!options_.expand_rules) hide_constants_of_rules();
    reindex(topological_indices(view_));
    assign_frames(view_, calls(), whats_);
    add_equations(view_);
    for (GraphVertex& vertex : view_.vertices) {
      if (overlay.of) measure(vertex, overlay.of(vertex));
    }
    return std::move(view_);
  }

 private:
  int index_of(const Node* node) const { return vertex_of_.at(node); }

  // Whether the node is all that is left of a rule that passes its gradient on, where rules are drawn as operations.
  bool only_hands_on(const Node& node) const {
    return options_.expand_rules && node.role == NodeRole::alias && node.rule_id() != 0 && node.name().empty();
  }
  // Whether it adds gradients that meet, one after the other.
  bool is_sum(const Node& node) const { return node.role == NodeRole::sum_of_gradients && !options_.expand_rules; }
  bool is_of_rule(const Node& node) const {
    return node.grad_order > 0 && node.rule_id() != 0 && !options_.expand_rules;
  }

  // The calls of modules that operations ran in, by vertex.
  Indexed<std::uint32_t> calls() const {
    Indexed<std::uint32_t> result(view_.vertices.count());
    for (const auto& [node, v] : vertex_of_) {
      if (v != nothing) result[v] = std::max(result[v], node->call());
    }
    return result;
  }

  void find_modules() {
    std::unordered_set<const Place*> visited;
    for (const Node* node : nodes_) {
      for (const Place* place = node->place; place && visited.insert(place).second; place = place->around) {
        std::string& what = whats_[place->path];
        if (place->what.size() > what.size()) what = place->what;  // the class alone of a module that has not run
      }
    }
  }

  void add_vertices() {
    find_modules();
    std::unordered_map<const Node*, int> uses;
    for (const Node* node : nodes_) {
      for (std::size_t i = 0; i < input_count(*node); ++i) ++uses[input_of(*node, i)];
    }
    std::map<std::tuple<std::uint32_t, int, int>, int> rules;  // by the rule that ran it, its order and its run
    std::unordered_map<std::uint32_t, const Node*> by_id;
    for (const Node* node : nodes_) {
      if (!is_data(*node)) by_id.emplace(static_cast<std::uint32_t>(node->id), node);
      const int next = view_.vertices.count();
      int drawn = next;
      if (only_hands_on(*node)) {
        vertex_of_.emplace(node, index_of(input_of(*node, 0)));
        continue;
      }
      if (is_of_rule(*node)) {
        const auto run = runs_.find(node);
        const std::tuple key(node->rule_id(), node->grad_order, run == runs_.end() ? 0 : run->second);
        drawn = rules.try_emplace(key, next).first->second;
      } else if (is_sum(*node)) {
        const Node* part = input_of(*node, 0);
        if (is_sum(*part) && !is_of_rule(*part) && uses[part] == 1) drawn = index_of(part);
      }
      vertex_of_.emplace(node, drawn);
      if (drawn == next) {
        view_.vertices.push_back(vertex_of(*node));
        if (is_of_rule(*node) || is_sum(*node)) rules_.insert(next);
        if (!is_of_rule(*node)) continue;
        XGRAD_ASSERT(node->place);
        view_.vertices.back().op = str(node->place->rule, "'");
        view_.vertices.back().text.attributes.clear();
      } else if (!node->name().empty()) {
        std::string& name = view_.vertices[drawn].name;
        append(name, str(name.empty() ? "" : ", ", node->name()));
      }
    }
    for (const Node* node : nodes_) {
      if (node->rule_id() == 0 || only_hands_on(*node)) continue;
      if (const auto of = by_id.find(node->rule_id()); of != by_id.end()) {
        view_.vertices[index_of(node)].rule_of = index_of(of->second);
      }
    }
  }

  void add_edges() {
    for (const Node* node : nodes_) {
      const int to = index_of(node);
      const ValueRecorder::Record* record = options_.values ? options_.values->find(*node) : nullptr;
      for (std::size_t i = 0; i < input_count(*node); ++i) {
        const Node& input = *input_of(*node, i);
        const int from = index_of(&input);
        if (is_data(input)) view_.vertices[from].order = std::min<int>(view_.vertices[from].order, node->grad_order);
        const bool is_stale = node->captures_inputs && !node->released && node->edges()[i].version != input.version();
        if (is_stale) view_.vertices[from].text.note = "assigned after it was used";
        if (from == to) continue;  // within a rule
        if (is_rule(from) && is_rule(to)) {
          view_.vertices[from].shape = input.shape();
          gives_on_.insert(from);
        }
        GraphEdge drawn{.from = from, .to = to, .input = inputs_[to]++, .shape = input.shape()};
        if (record && i < record->parts.size()) drawn.gradient = record->parts[i];
        add_edge(std::move(drawn));
      }
    }
  }

  // A rule may use one value several times.
  void add_edge(GraphEdge edge) {
    if (is_rule(edge.to) && !joined_.emplace(edge.from, edge.to).second) return;
    view_.edges.push_back(std::move(edge));
  }

  bool is_rule(int vertex) const { return rules_.contains(vertex); }

  // Ids, targets, lengths and masks are inputs, too, each array once. An array given to a rule alone is left out.
  void add_given() {
    for (const bool to_rules : {false, true}) {
      for (const Node* node : nodes_) {
        if (!node->extras || is_rule(index_of(node)) != to_rules) continue;
        for (const auto& [name, value] : node->extras->attributes) {
          if (const Index* index = std::get_if<Index>(&value)) add_given(*node, name, *index);
          if (const Mask* mask = std::get_if<Mask>(&value)) add_given(*node, name, *mask);
        }
      }
    }
  }
  template <class T>
  void add_given(const Node& node, const char* name, const BasicArray<T>& value) {
    constexpr bool is_mask = std::same_as<T, bool>;
    given_.insert(value.buffer().get());
    const std::pair key{static_cast<const void*>(value.data()), str(value.shape())};
    const int to = index_of(&node);
    if (is_rule(to) && !vertex_of_array_.contains(key)) return;
    const auto [entry, is_new] = vertex_of_array_.try_emplace(key, view_.vertices.count());
    if (is_new) {
      view_.vertices.push_back({.role = GraphRole::input,
                                .op = is_mask ? "mask" : "indices",
                                .name = name,
                                .shape = value.shape(),
                                .order = node.grad_order,
                                .flow = is_mask ? GraphFlow::mask : GraphFlow::indices});
      if (options_.values) {
        Array numbers(value.shape());
        std::ranges::copy(value, numbers.mutable_data());
        view_.vertices.back().record.value = shared_summary_of(numbers);
      }
    }
    const GraphFlow flow = view_.vertices[entry->second].flow;
    add_edge({.from = entry->second, .to = to, .input = inputs_[to]++, .shape = value.shape(), .flow = flow});
  }

  void mark_results() {
    for (const Tensor& result : results_) {
      const int v = index_of(detail::Engine::node(result).get());
      GraphVertex& vertex = view_.vertices[v];
      if (is_rule(v) && !vertex.is_result && !gives_on_.contains(v)) vertex.shape = result.shape();
      vertex.is_result = true;
      ++vertex.totals.results;
      if (detail::Engine::computed_in(result) == GradMode::no_grad) {
        vertex.text.note = "computed under NoGrad: no graph";
      }
    }
  }

  void settle_leaves() {
    for (GraphVertex& vertex : view_.vertices) {
      if (vertex.order == std::numeric_limits<int>::max()) vertex.order = 0;
      const bool leaf = vertex.role == GraphRole::input && vertex.flow == GraphFlow::numbers;
      if (leaf && vertex.order > 0 && vertex.name.empty()) vertex.role = GraphRole::constant;
    }
  }

  // Hides constants that are used only within rules.
  void hide_constants_of_rules() {
    Indexed<bool> goes_elsewhere(view_.vertices.count());
    for (const GraphEdge& edge : view_.edges) {
      if (!is_rule(edge.to)) goes_elsewhere[edge.from] = true;
    }
    Indexed<int> indices;
    int next = 0;
    for (int v = 0; v < view_.vertices.count(); ++v) {
      const GraphVertex& vertex = view_.vertices[v];
      const bool hidden =
          vertex.role == GraphRole::constant && vertex.order > 0 && !goes_elsewhere[v] && !vertex.is_result;
      indices.push_back(hidden ? nothing : next++);
    }
    reindex(indices);
  }

  void reindex(const Indexed<int>& indices) {
    view_ = reindexed(std::move(view_), indices);
    for (auto& [node, v] : vertex_of_) v = v == nothing ? nothing : indices[v];
  }

  // Adds the value of the overlay.
  void measure(GraphVertex& vertex, std::optional<double> value) const {
    if (!value) return;
    if (!std::isfinite(*value)) {
      fail<ValueError>(caller_, "the overlay '", printable(options_.overlay->title), "' gives ", *value, " for ",
                       printable(called(vertex)));
    }
    vertex.totals.overlay = vertex.totals.overlay.value_or(0) + *value;
  }

  // Counts the arrays that are saved for backward, each once: at the vertex that made it, if that vertex is drawn, else
  // at the vertex whose rule holds it. Arrays of leaves and given arrays do not count, because they exist anyway.
  void count_saved() {
    struct Held {
      const void* block;
      std::int64_t bytes;
      const Node* maker;
      int holder;
    };
    struct Listener : CopyListener {
      Listener(std::vector<Held>& list, int vertex) : held(list), holder(vertex) {}
      void on_copy(Tensor& tensor) override {
        if (!tensor.defined()) return;
        held.push_back({tensor.value().buffer().get(), tensor.size() * static_cast<std::int64_t>(sizeof(Real)),
                        detail::Engine::node(tensor).get(), holder});
      }
      void on_copy(const void* block, std::int64_t bytes) override { held.push_back({block, bytes, nullptr, holder}); }
      std::vector<Held>& held;
      int holder;
    };
    std::vector<Held> held;
    for (const Node* node : nodes_) {
      if (node->is_leaf()) continue;
      const std::int64_t bytes = node->shape().numel() * static_cast<std::int64_t>(sizeof(Real));
      if (node->saved) held.push_back({node->saved.get(), bytes, node, index_of(node)});
      const Listener listener(held, index_of(node));
      for (const Edge& edge : node->edges()) edge.rule.copy_captures();
    }
    std::unordered_set<const void*> counted = given_;
    for (const bool maker_known : {true, false}) {
      for (const Held& array : held) {
        const auto maker = array.maker ? vertex_of_.find(array.maker) : vertex_of_.end();
        if ((maker != vertex_of_.end()) != maker_known) continue;
        if (!array.block || !counted.insert(array.block).second || (maker_known && array.maker->is_leaf())) continue;
        view_.vertices[maker_known ? maker->second : array.holder].totals.saved_bytes += array.bytes;
      }
    }
  }

  // Adds the numbers of a run. The box of a rule gets the numbers of its last operation.
  void add_numbers(const ValueRecorder& values) {
    for (const Node* node : nodes_) {
      const ValueRecorder::Record* record = values.find(*node);
      if (!record) continue;
      GraphRecord& drawn = view_.vertices[index_of(node)].record;
      if (record->value) drawn.value = record->value;
      if (record->gradient) drawn.gradient = record->gradient;
      drawn.absorb(*record);
    }
    GraphRecord* first = first_nan(&GraphRecord::value, &GraphRecord::step);
    if (!first) first = first_nan(&GraphRecord::gradient, &GraphRecord::gradient_step);
    if (first) first->first_nan = true;
    if (values.saw_gradients()) judge_gradients();
  }

  // Of the vertex whose value, or whose gradient, was the first of the run to hold a NaN; nullptr if there is none.
  GraphRecord* first_nan(SharedSummary GraphRecord::*numbers, int GraphRecord::*step) {
    GraphRecord* first = nullptr;
    for (GraphVertex& vertex : view_.vertices) {
      const SharedSummary& summary = vertex.record.*numbers;
      if (summary && summary->nans > 0 && (!first || vertex.record.*step < first->*step)) first = &vertex.record;
    }
    return first;
  }

  // Marks gradients that are missing, zero or NaN.
  void judge_gradients() {
    std::map<int, std::string> stopped_by;  // by vertex: an operation with a gradient that passed none on
    for (const GraphEdge& edge : view_.edges) {
      const GraphVertex& to = view_.vertices[edge.to];
      const SharedSummary& gradient = to.record.gradient;
      if (edge.gradient && is_zero(*edge.gradient) && gradient && !is_zero(*gradient)) {
        stopped_by.try_emplace(edge.from, to.op);
      }
    }
    for (const Node* node : nodes_) {
      const int v = index_of(node);
      GraphRecord& record = view_.vertices[v].record;
      if (node->role == NodeRole::detached) {
        record.gradient_state = str("none, detached from ", called(view_.vertices[index_of(input_of(*node, 0))]));
      }
      if (!node->requires_grad || !record.value) continue;
      if (!record.gradient) {
        record.gradient_state = "none, no backward pass came here";
      } else if (record.gradient->nans > 0) {
        record.gradient_state = "NaN";
      } else if (is_zero(*record.gradient)) {
        const auto by = stopped_by.find(v);
        record.gradient_state = by == stopped_by.end() ? "zero" : str("zero, stopped by ", by->second);
      }
    }
    GraphRecord* first = first_nan(&GraphRecord::gradient, &GraphRecord::gradient_step);
    if (first && first->gradient_state == "NaN") first->gradient_state = "NaN, the first";
  }

  static bool is_zero(const NumbersSummary& summary) {
    return summary.zeros > 0 && summary.zeros == summary.shape.numel();
  }

  const Tensors& results_;
  const GraphOptions& options_;
  const std::string_view caller_;
  const RuleRuns runs_;
  const std::vector<const Node*> nodes_;
  std::unordered_map<const Node*, int> vertex_of_;
  std::set<int> rules_;                    // boxes of several operations: of a rule, or of a sum of gradients
  std::set<int> gives_on_;                 // rules whose gradients go to other rules
  std::map<int, int> inputs_;              // how many inputs of a vertex have been listed
  std::unordered_set<const void*> given_;  // blocks of indices and masks
  std::set<std::pair<int, int>> joined_;   // vertices that a rule's edge leads from and to
  std::map<std::pair<const void*, std::string>, int> vertex_of_array_;  // by its data and its shape
  std::map<std::string, std::string> whats_;                            // of modules, by path
  GraphView view_;
};

}  // namespace

GraphView everything(const Tensors& results, const GraphOptions& options, std::string_view caller) {
  Collector collector(results, options, caller, {});
  RuleRuns runs = collector.runs_on_cycles();
  return runs.empty() ? std::move(collector).view() : Collector(results, options, caller, std::move(runs)).view();
}

}  // namespace xgrad::detail
