// Converting nodes to a GraphView that leaves nothing out.
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

// Whether it is not the result of an operation, not even of one that only left a trace.
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
  struct Frame {
    const Node* node;
    std::size_t next_input = 0;
  };
  std::vector<const Node*> nodes;
  std::unordered_set<const Node*> found;
  std::vector<Frame> stack;
  for (const Tensor& result : results) {
    const Node* root = detail::Engine::needed_node(result).get();
    if (!found.insert(root).second) continue;
    stack.push_back({root});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const std::size_t count = input_count(*frame.node);
      if (frame.next_input < count) {
        const Node* to = input_of(*frame.node, frame.next_input++);
        if (!is_data(*to) && found.insert(to).second) stack.push_back({to});
        continue;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const Node* to = input_of(*frame.node, i);
        if (is_data(*to) && found.insert(to).second) nodes.push_back(to);
      }
      nodes.push_back(frame.node);
      stack.pop_back();
    }
  }
  return nodes;
}

GraphRole role_of(const Node& node) {
  if (std::string_view(node.op) == "seed") return GraphRole::seed;
  if (!is_data(node)) return node.order == 0 ? GraphRole::operation : GraphRole::gradient_operation;
  if (node.requires_grad) return GraphRole::parameter;
  return node.rank == 0 && node.name().empty() ? GraphRole::constant : GraphRole::input;
}

// A number, or axes; of a window that is as large along each axis its size, else "2 x 3".
std::string text_of(std::string_view name, const Shape& numbers) {
  constexpr std::array<std::string_view, 5> of_windows{"kernel", "stride", "padding", "output_padding", "dilation"};
  if (numbers.rank() == 1) return str(numbers[0]);
  if (std::ranges::find(of_windows, name) == of_windows.end()) return str(numbers);
  if (std::ranges::count(numbers, numbers[0]) == std::ssize(numbers)) return str(numbers[0]);
  std::string text;
  for (const std::int64_t number : numbers) append(text, str(text.empty() ? "" : " x ", number));
  return text;
}

// The attributes of an operation, except arrays, which are vertices of their own.
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
  GraphVertex vertex{
      .role = role_of(node), .op = node.op, .name = std::string(node.name()), .path = {}, .shape = node.shape()};
  vertex.attributes = attributes_of(node);
  if (is_data(node)) {
    if (node.kept && vertex.name.empty()) vertex.number = node.kept->data[0];
    vertex.order = std::numeric_limits<int>::max();
  } else {
    vertex.order = node.order;
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
    count_kept();
    if (options_.values) add_numbers(*options_.values);
    if (options_.overlay && options_.overlay->of_node) measure_nodes();
    if (!options_.expand_rules) hide_constants_of_rules();
    renumber(topological_numbers(view_));
    place_in_frames(view_, ids(), whats_);
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

  // Whether this is the rest of a rule that only passes its gradient on, where rules are drawn as their operations.
  bool only_hands_on(const Node& node) const {
    return options_.expand_rules && node.rule_id() != 0 && std::string_view(node.op) == "alias" && node.name().empty();
  }

  // Whether it adds gradients that meet, one after the other.
  bool is_sum(const Node& node) const { return node.op == sum_of_gradients && !options_.expand_rules; }

  // The ids of nodes, by vertex.
  std::vector<std::uint64_t> ids() const {
    std::vector<std::uint64_t> result(view_.vertices.size());
    for (const auto& [node, number] : numbers_) {
      if (number != nothing) result[number] = std::max(result[number], node->id);
    }
    return result;
  }

  void add_vertices() {
    std::unordered_map<std::uint32_t, const Node*> by_id;
    std::unordered_set<const Place*> seen;
    for (const Node* node : nodes_) {
      if (!is_data(*node)) by_id.emplace(static_cast<std::uint32_t>(node->id), node);
      for (const Place* place = node->place; place && seen.insert(place).second; place = place->around) {
        std::string& what = whats_[place->path];
        if (place->what.size() > what.size()) what = place->what;  // the class alone of a module that has not run
      }
    }
    std::map<RuleKey, int> rules;
    std::unordered_map<const Node*, int> uses;
    for (const Node* node : nodes_) {
      for (std::size_t i = 0; i < input_count(*node); ++i) ++uses[input_of(*node, i)];
    }
    for (const Node* node : nodes_) {
      const int next = static_cast<int>(view_.vertices.size());
      if (only_hands_on(*node)) {
        numbers_.emplace(node, number(input_of(*node, 0)));
        continue;
      }
      if (const Node* part = is_sum(*node) ? input_of(*node, 0) : nullptr; part && is_sum(*part) && uses[part] == 1) {
        numbers_.emplace(node, number(part));
        view_.vertices[number(part)].name = node->name();
        continue;
      }
      const bool of_rule = node->order > 0 && node->rule_id() != 0 && !options_.expand_rules;
      if (of_rule || is_sum(*node)) rules_.insert(next);
      if (of_rule) {
        const auto [place, is_new] = rules.try_emplace({node->rule_id(), node->order}, next);
        numbers_.emplace(node, place->second);
        if (!is_new) {
          add_to_rule(view_.vertices[place->second], *node);
          continue;
        }
        GraphVertex& vertex = view_.vertices.emplace_back(vertex_of(*node));
        vertex.op = str(node->place->rule, "'");
        vertex.attributes.clear();
        continue;
      }
      numbers_.emplace(node, next);
      view_.vertices.push_back(vertex_of(*node));
    }
    for (const Node* node : nodes_) {
      if (node->order == 0 || node->rule_id() == 0) continue;
      if (const auto of = by_id.find(node->rule_id()); of != by_id.end()) {
        view_.vertices[number(node)].rule_of = number(of->second);
      }
    }
  }

  static void add_to_rule(GraphVertex& rule, const Node& node) {
    if (node.name().empty()) return;
    append(rule.name, str(rule.name.empty() ? "" : ", ", node.name()));
  }

  void add_edges() {
    for (const Node* node : nodes_) {
      const int to = number(node);
      const ValueRecorder::Known* known = options_.values ? options_.values->find(*node) : nullptr;
      for (std::size_t i = 0; i < input_count(*node); ++i) {
        const Node& input = *input_of(*node, i);
        const int from = number(&input);
        if (is_data(input)) view_.vertices[from].order = std::min<int>(view_.vertices[from].order, node->order);
        const bool is_stale = node->captures_inputs && !node->released && node->edges()[i].version != input.version();
        if (is_stale) view_.vertices[from].note = "assigned after it was used";
        if (from == to) continue;  // within a rule
        if (is_rule(from) && is_rule(to)) {
          view_.vertices[from].shape = input.shape();
          gives_on_.insert(from);
        }
        GraphEdge drawn{.from = from, .to = to, .input = inputs_[to]++, .shape = input.shape()};
        if (known && i < known->parts.size()) drawn.gradient = known->parts[i];
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

  // Ids, targets, lengths and masks are inputs, too, each array once. Of those in a rule only the ones given to others.
  void add_given() {
    std::map<std::pair<const void*, std::string>, int> known;
    for (const bool of_rules : {false, true}) {
      for (const Node* node : nodes_) {
        if (!node->extras || is_rule(number(node)) != of_rules) continue;
        for (const Attribute& attribute : node->extras->attributes) {
          std::visit(
              [&]<class T>(const T& value) {
                if constexpr (std::same_as<T, Index> || std::same_as<T, Mask>) {
                  given_.insert(value.buffer().get());
                  const std::pair key{static_cast<const void*>(value.data()), str(value.shape())};
                  if (of_rules && !known.contains(key)) return;
                  const auto [place, is_new] = known.try_emplace(key, static_cast<int>(view_.vertices.size()));
                  if (is_new) {
                    GraphVertex& given =
                        view_.vertices.emplace_back(vertex_of_given(attribute.name, value, node->order));
                    if (options_.values) given.value = shared_summary_of(as_numbers(value));
                  }
                  add_edge({.from = place->second,
                            .to = number(node),
                            .input = inputs_[number(node)]++,
                            .shape = value.shape(),
                            .flow = std::same_as<T, Mask> ? GraphFlow::mask : GraphFlow::indices});
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
            .path = {},
            .shape = value.shape(),
            .order = order};
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
      ++vertex.results;
      if (detail::Engine::history(result) == History::no_grad) vertex.note = "computed under NoGrad: no graph";
      if (detail::Engine::history(result) == History::gradient)
        vertex.note = "a gradient without create_graph: no graph";
    }
  }

  void settle_leaves() {
    for (GraphVertex& vertex : view_.vertices) {
      if (vertex.order == std::numeric_limits<int>::max()) vertex.order = 0;
      const bool leaf = vertex.role == GraphRole::input && vertex.op == "leaf";
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
    const GraphOverlay& overlay = *options_.overlay;
    for (const Node* node : nodes_) {
      add_number(view_.vertices[number(node)], overlay.of_node(*node), overlay);
    }
  }
  void measure_vertices() {
    const GraphOverlay& overlay = *options_.overlay;
    for (GraphVertex& vertex : view_.vertices) add_number(vertex, overlay.of(vertex), overlay);
  }
  void add_number(GraphVertex& vertex, std::optional<double> number, const GraphOverlay& overlay) const {
    if (!number) return;
    if (!std::isfinite(*number)) {
      fail<ValueError>(caller_, "the overlay '", printable(overlay.title), "' gives ", *number, " for ",
                       printable(called(vertex)));
    }
    vertex.overlay = vertex.overlay.value_or(0) + *number;
  }

  // Each array that rules hold counts once: at the vertex that made it, if that is known, else where it is held.
  // Arrays of leaves and given arrays do not count: they exist anyway.
  void count_kept() {
    struct Held {
      const void* block;
      std::int64_t bytes;
      const Node* maker;
      int holder;
    };
    struct Listener : CopyListener {
      Listener(std::vector<Held>& list, int vertex) : held(list), holder(vertex) {}
      void saw(Tensor& tensor) override {
        if (!tensor.defined()) return;
        held.push_back({tensor.value().buffer().get(), tensor.size() * static_cast<std::int64_t>(sizeof(Real)),
                        detail::Engine::node(tensor).get(), holder});
      }
      void saw(const void* block, std::int64_t bytes) override { held.push_back({block, bytes, nullptr, holder}); }
      std::vector<Held>& held;
      int holder;
    };
    std::vector<Held> held;
    for (const Node* node : nodes_) {
      if (node->is_leaf()) continue;
      const std::int64_t bytes = node->shape().numel() * static_cast<std::int64_t>(sizeof(Real));
      if (node->kept) held.push_back({node->kept.get(), bytes, node, number(node)});
      const Listener listener(held, number(node));
      for (const Edge& edge : node->edges()) edge.rule.show();
    }
    std::unordered_set<const void*> counted = given_;
    for (const bool maker_known : {true, false}) {
      for (const Held& array : held) {
        const auto maker = array.maker ? numbers_.find(array.maker) : numbers_.end();
        if ((maker != numbers_.end()) != maker_known) continue;
        if (!array.block || !counted.insert(array.block).second || (maker_known && array.maker->is_leaf())) continue;
        view_.vertices[maker_known ? maker->second : array.holder].kept_bytes += array.bytes;
      }
    }
  }

  // The numbers of a run. A box of a rule gets those of its last operation.
  void add_numbers(const ValueRecorder& values) {
    for (const Node* node : nodes_) {
      const ValueRecorder::Known* known = values.find(*node);
      if (!known) continue;
      GraphVertex& vertex = view_.vertices[number(node)];
      if (known->value) vertex.value = known->value;
      vertex.step = std::max(vertex.step, known->step);
      if (known->gradient) vertex.gradient = known->gradient;
      vertex.gradient_step = std::max(vertex.gradient_step, known->gradient_step);
    }
    mark_first_nan();
    if (values.saw_gradients()) judge_gradients();
  }

  void mark_first_nan() {
    GraphVertex* first = nullptr;
    for (const bool of_gradients : {false, true}) {
      for (GraphVertex& vertex : view_.vertices) {
        const SharedSummary& numbers = of_gradients ? vertex.gradient : vertex.value;
        const auto step = [&](const GraphVertex& of) { return of_gradients ? of.gradient_step : of.step; };
        if (numbers && numbers->nans > 0 && (!first || step(vertex) < step(*first))) first = &vertex;
      }
      if (first) break;
    }
    if (first) first->first_nan = true;
  }

  // Marks gradients that are missing, zero or NaN.
  void judge_gradients() {
    std::map<int, std::string> stopped_by;  // by vertex: an operation with a gradient that passed none on
    for (const GraphEdge& edge : view_.edges) {
      const GraphVertex& to = view_.vertices[edge.to];
      if (edge.gradient && is_zero(*edge.gradient) && to.gradient && !is_zero(*to.gradient)) {
        stopped_by.try_emplace(edge.from, to.op);
      }
    }
    int first_nan = nothing;
    for (const Node* node : nodes_) {
      const int v = number(node);
      GraphVertex& vertex = view_.vertices[v];
      if (!is_data(*node) && std::string_view(node->op) == "detach") {
        vertex.gradient_state = str("none, detached from ", called(view_.vertices[number(input_of(*node, 0))]));
      }
      if (!node->requires_grad || !vertex.value) continue;
      if (!vertex.gradient) {
        vertex.gradient_state = "none, no backward pass came here";
      } else if (vertex.gradient->nans > 0) {
        vertex.gradient_state = "NaN";
        if (first_nan == nothing || vertex.gradient_step < view_.vertices[first_nan].gradient_step) first_nan = v;
      } else if (is_zero(*vertex.gradient)) {
        const auto by = stopped_by.find(v);
        vertex.gradient_state = by == stopped_by.end() ? "zero" : str("zero, stopped by ", by->second);
      }
    }
    if (first_nan != nothing) view_.vertices[first_nan].gradient_state = "NaN, the first";
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
