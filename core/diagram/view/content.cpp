// From nodes of the graph to vertices.
#include "content.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "../../base/assert.h"
#include "../../base/error.h"
#include "../../base/scope.h"
#include "../../base/text.h"
#include "../../graph/grad.h"
#include "equations.h"
#include "frames.h"
#include "labels.h"
#include "order.h"
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

// Makes the view of a list of nodes.
class Collector {
 public:
  Collector(const Tensors& results, const GraphOptions& options, std::string_view caller)
      : results_(results), options_(options), caller_(caller) {}

  GraphView view() && {
    nodes_ = collected(results_);
    add_vertices();
    add_edges();
    add_given();
    mark_results();
    settle_leaves();
    count_saved();
    if (options_.values) add_numbers(*options_.values);
    if (options_.overlay && options_.overlay->of_node) measure_nodes();
    if (!options_.expand_rules) hide_constants_of_rules();
    renumber(topological_numbers(view_));
    assign_frames(view_, calls(), whats_);
    add_equations(view_);
    if (options_.overlay && options_.overlay->of) measure_vertices();
    return std::move(view_);
  }

 private:
  // The gradient rule that ran an operation.
  struct RuleKey {
    std::uint32_t rule;
    std::uint8_t order;
    auto operator<=>(const RuleKey&) const = default;
  };

  int number(const Node* node) const { return numbers_.at(node); }

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
  std::vector<std::uint32_t> calls() const {
    std::vector<std::uint32_t> result(view_.vertices.size());
    for (const auto& [node, number] : numbers_) {
      if (number != nothing) result[number] = std::max(result[number], node->call());
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
    std::map<RuleKey, int> rules;
    std::unordered_map<std::uint32_t, const Node*> by_id;
    for (const Node* node : nodes_) {
      if (!is_data(*node)) by_id.emplace(static_cast<std::uint32_t>(node->id), node);
      const auto next = static_cast<int>(view_.vertices.size());
      int drawn = next;
      if (only_hands_on(*node)) {
        numbers_.emplace(node, number(input_of(*node, 0)));
        continue;
      }
      if (is_of_rule(*node)) {
        drawn = rules.try_emplace({node->rule_id(), node->grad_order}, next).first->second;
      } else if (is_sum(*node)) {
        const Node* part = input_of(*node, 0);
        if (is_sum(*part) && !is_of_rule(*part) && uses[part] == 1) drawn = number(part);
      }
      numbers_.emplace(node, drawn);
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
        view_.vertices[number(node)].rule_of = number(of->second);
      }
    }
  }

  void add_edges() {
    for (const Node* node : nodes_) {
      const int to = number(node);
      const ValueRecorder::Record* record = options_.values ? options_.values->find(*node) : nullptr;
      for (std::size_t i = 0; i < input_count(*node); ++i) {
        const Node& input = *input_of(*node, i);
        const int from = number(&input);
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
    std::map<std::pair<const void*, std::string>, int> vertex_of_array;
    for (const bool of_rules : {false, true}) {
      for (const Node* node : nodes_) {
        if (!node->extras || is_rule(number(node)) != of_rules) continue;
        for (const Attribute& attribute : node->extras->attributes) {
          std::visit(
              [&]<class T>(const T& value) {
                if constexpr (std::same_as<T, Index> || std::same_as<T, Mask>) {
                  given_.insert(value.buffer().get());
                  const std::pair key{static_cast<const void*>(value.data()), str(value.shape())};
                  if (of_rules && !vertex_of_array.contains(key)) return;
                  const auto next = static_cast<int>(view_.vertices.size());
                  const auto [entry, is_new] = vertex_of_array.try_emplace(key, next);
                  if (is_new) {
                    GraphVertex& given =
                        view_.vertices.emplace_back(vertex_of_given(attribute.name, value, node->grad_order));
                    if (options_.values) given.record.value = shared_summary_of(as_numbers(value));
                  }
                  add_edge({.from = entry->second,
                            .to = number(node),
                            .input = inputs_[number(node)]++,
                            .shape = value.shape(),
                            .flow = view_.vertices[entry->second].flow});
                }
              },
              attribute.value);
        }
      }
    }
  }
  template <class T>
  static GraphVertex vertex_of_given(const char* name, const BasicArray<T>& value, int order) {
    return {.role = GraphRole::input,
            .op = std::same_as<T, bool> ? "mask" : "indices",
            .name = name,
            .shape = value.shape(),
            .order = order,
            .flow = std::same_as<T, bool> ? GraphFlow::mask : GraphFlow::indices};
  }

  template <class T>
  static Array as_numbers(const BasicArray<T>& given) {
    Array numbers(given.shape());
    std::ranges::copy(given, numbers.mutable_data());
    return numbers;
  }

  void mark_results() {
    for (const Tensor& result : results_) {
      const int v = number(detail::Engine::node(result).get());
      GraphVertex& vertex = view_.vertices[v];
      if (is_rule(v) && !vertex.is_result && !gives_on_.contains(v)) vertex.shape = result.shape();
      vertex.is_result = true;
      ++vertex.totals.results;
      if (detail::Engine::computed_in(result) == GradMode::no_grad)
        vertex.text.note = "computed under NoGrad: no graph";
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
    std::vector<bool> goes_elsewhere(view_.vertices.size());
    for (const GraphEdge& edge : view_.edges) {
      if (!is_rule(edge.to)) goes_elsewhere[edge.from] = true;
    }
    std::vector<int> numbers;
    int next = 0;
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) {
      const GraphVertex& vertex = view_.vertices[v];
      const bool hidden =
          vertex.role == GraphRole::constant && vertex.order > 0 && !goes_elsewhere[v] && !vertex.is_result;
      numbers.push_back(hidden ? nothing : next++);
    }
    renumber(numbers);
  }

  void renumber(const std::vector<int>& numbers) {
    view_ = renumbered(std::move(view_), numbers);
    for (auto& [node, number] : numbers_) number = number == nothing ? nothing : numbers[number];
  }

  void measure_nodes() {
    for (const Node* node : nodes_) add_number(view_.vertices[number(node)], options_.overlay->of_node(*node));
  }
  void measure_vertices() {
    for (GraphVertex& vertex : view_.vertices) add_number(vertex, options_.overlay->of(vertex));
  }
  void add_number(GraphVertex& vertex, std::optional<double> number) const {
    if (!number) return;
    if (!std::isfinite(*number)) {
      fail<ValueError>(caller_, "the overlay '", printable(options_.overlay->title), "' gives ", *number, " for ",
                       printable(called(vertex)));
    }
    std::optional<double>& overlay = vertex.totals.overlay;
    overlay = overlay.value_or(0) + *number;
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
      if (node->saved) held.push_back({node->saved.get(), bytes, node, number(node)});
      const Listener listener(held, number(node));
      for (const Edge& edge : node->edges()) edge.rule.copy_captures();
    }
    std::unordered_set<const void*> counted = given_;
    for (const bool maker_known : {true, false}) {
      for (const Held& array : held) {
        const auto maker = array.maker ? numbers_.find(array.maker) : numbers_.end();
        if ((maker != numbers_.end()) != maker_known) continue;
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
      GraphRecord& drawn = view_.vertices[number(node)].record;
      if (record->value) drawn.value = record->value;
      if (record->gradient) drawn.gradient = record->gradient;
      drawn.step = std::max(drawn.step, record->step);
      drawn.gradient_step = std::max(drawn.gradient_step, record->gradient_step);
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
      const int v = number(node);
      GraphRecord& record = view_.vertices[v].record;
      if (node->role == NodeRole::detached) {
        record.gradient_state = str("none, detached from ", called(view_.vertices[number(input_of(*node, 0))]));
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
  std::vector<const Node*> nodes_;
  std::unordered_map<const Node*, int> numbers_;
  std::set<int> rules_;                       // boxes of several operations: of a rule, or of a sum of gradients
  std::set<int> gives_on_;                    // rules whose gradients go to other rules
  std::map<int, int> inputs_;                 // how many inputs of a vertex have been listed
  std::unordered_set<const void*> given_;     // blocks of indices and masks
  std::set<std::pair<int, int>> joined_;      // vertices that a rule's edge leads from and to
  std::map<std::string, std::string> whats_;  // of modules, by path
  GraphView view_;
};

}  // namespace

GraphView everything(const Tensors& results, const GraphOptions& options, std::string_view caller) {
  return Collector(results, options, caller).view();
}

}  // namespace xgrad::detail
