// The message of an anomaly.
#include "anomaly.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "../base/formula.h"
#include "../profile/summary.h"

namespace xgrad {
namespace {

constexpr std::size_t most_ancestors = 6;  // operations that are listed

std::string named(const Node& node) {
  const std::string name = node.name().empty() ? std::string() : str(" '", node.name(), "'");
  return str(node.op, name, ' ', node.shape());
}

// "-inf at [1], the first of 2 in [3]"; empty if there is none.
std::string found_in(const Array& array, const AnomalyOptions& options) {
  const auto bad = [&](Real x) { return std::isnan(x) || (options.infinity && std::isinf(x)); };
  const auto first = std::ranges::find_if(array, bad);
  if (first == array.end()) return {};
  const std::int64_t count = std::ranges::count_if(array, bad);
  const std::string at =
      array.rank() == 0 ? std::string() : str(" at ", position_of(first - array.begin(), array.shape()));
  return str(std::isnan(*first) ? "NaN"
             : *first < 0       ? "-infinity"
                                : "infinity",
             at, count > 1 ? str(", the first of ", count) : std::string());
}

// The formula of the operation on a line of its own, if it is known.
std::string formula(const OperationRun& run) {
  std::vector<std::string_view> attributes;  // that are on
  for (const auto& [name, value] : run.attributes) {
    if (const bool* on = std::get_if<bool>(&value); on && *on) attributes.push_back(name);
  }
  const std::optional<Formula> known = formula_of(run.op, attributes);
  return known && !known->value.empty() ? str("\n  ", known->value) : std::string();
}

// The operations that a tensor was computed from, the nearest first, a line each.
std::string ancestry(const Node* start) {
  std::string lines;
  std::size_t listed = 0;
  detail::walk_graph(
      {start},
      [&](const Node& node) {
        if (node.is_leaf() || listed++ >= most_ancestors) return false;
        append(lines, str("\n    ", named(node), " of"));
        for (const Edge& edge : node.edges()) append(lines, str(' ', named(*edge.to)));
        if (node.place && !node.place->path.empty()) append(lines, str(", in ", node.place->path));
        return true;
      },
      [](const Edge&) { return true; });
  return lines;
}

}  // namespace

void AnomalyMode::operation(const OperationRun& run) {
  const std::string found = found_in(run.output.value(), options_);
  if (found.empty()) return;
  std::string inputs;
  for (std::size_t i = 0; i < run.inputs.size(); ++i) {
    const Tensor& input = *run.inputs[i];
    if (!input.defined()) continue;
    const std::string name = input.name().empty() ? std::string() : str(" '", input.name(), "'");
    const std::string given = found_in(input.value(), options_);
    append(inputs, str("\n  input ", i, name, ' ', input.shape(), ": ", to_string(summary_of(input.value())),
                       given.empty() ? "" : "; it was given so"));
    if (!input.is_leaf()) append(inputs, ancestry(detail::Engine::node(input).get()));
  }
  const bool by_mask = operation_kind(run.op) == OperationKind::masks && found.starts_with("-infinity");
  const std::string meant =
      by_mask ? "\n  if a mask is meant, AnomalyMode({.infinity = false}) looks for NaN alone" : "";
  const std::string where = run.rule_of ? str(" in the gradient of ", named(*run.rule_of)) : std::string();
  fail<NumericError>(run.op, "gives ", found, " in its result ", run.output.shape(), where, formula(run), meant,
                     inputs);
}

void AnomalyMode::complete_gradient(const Node& node, const Tensor& gradient) {
  gradient_of_result_ = gradient;
  const std::string found = found_in(gradient.value(), options_);
  if (found.empty()) return;
  const Scope scope(node.place);
  fail<NumericError>(node.op, "the gradient of its result ", node.shape(),
                     node.name().empty() ? std::string() : str(" '", node.name(), "'"), " is ", found,
                     ", caused by the seed, a hook, or the sum of the gradients that meet here");
}

void AnomalyMode::gradient(const Node& node, std::size_t input, const Tensor& gradient) {
  const std::string found = found_in(gradient.value(), options_);
  if (found.empty()) return;
  const Node& to = *node.edges()[input].to;
  fail<NumericError>(node.op, "its gradient rule gives ", found, " for input ", input, ' ', named(to),
                     "\n  gradient of its result: ", to_string(summary_of(gradient_of_result_.value())),
                     to.is_leaf() ? std::string() : ancestry(&to));
}

}  // namespace xgrad
