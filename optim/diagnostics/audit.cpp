// A walk over the graph of a loss, next to the list of an optimizer's parameters.
#include "audit.h"

#include <algorithm>
#include <ostream>
#include <unordered_set>

#include "../../core/base/formula.h"
#include "../../core/graph/model_parameters.h"

namespace xgrad::optim {
namespace {

using xgrad::detail::ModelParameters;

struct Upstream {
  std::vector<const Node*> leaves;         // that gradients flow to, or should, in the order in which they were made
  std::unordered_set<const Node*> passed;  // that the loss was computed from, but no gradient flows to
  std::vector<const Node*> factors;        // constants without a name that a module multiplies something by
};

// The right factor of a product in a module, if it is a constant. The left one is the input of the module.
const Node* constant_factor(const Node& node) {
  if (!node.place || node.edge_count < 2 || operation_kind(node.op) != OperationKind::product) return nullptr;
  const Node* const right = node.edges()[1].to.get();
  const bool constant = right && right->is_leaf() && !right->requires_grad && !right->unrecorded_gradient;
  return constant && right->name().empty() ? right : nullptr;
}

Upstream upstream_of(const Node* loss) {
  Upstream result;
  xgrad::detail::walk_graph(
      {loss},
      [&](const Node& node) {
        if (node.is_leaf()) result.leaves.push_back(&node);
        const Node* const factor = constant_factor(node);
        if (factor && std::ranges::find(result.factors, factor) == result.factors.end()) {
          result.factors.push_back(factor);
        }
        return true;
      },
      [&](const Edge& edge) {
        const bool flows = edge.carries && edge.to->requires_grad;
        const bool is_new = !flows && result.passed.insert(edge.to.get()).second;
        if (is_new && edge.to->unrecorded_gradient) result.leaves.push_back(edge.to.get());
        return flows;
      });
  std::ranges::sort(result.leaves, {}, &Node::id);
  return result;
}

std::string why_unreached(const Tensor& parameter, const Upstream& upstream) {
  if (!parameter.requires_grad()) return "no gradient is wanted: it is frozen";
  if (upstream.passed.contains(xgrad::detail::Engine::node(parameter).get()))
    return "it was frozen when the loss was computed: run the forward pass again";
  return "the loss does not depend on it: does no forward call its layer, or was its member given another tensor?";
}

std::string why_untrained(const Node* leaf, const std::unordered_set<const ModelParameters*>& known,
                          const Optimizer& optimizer) {
  if (leaf->unrecorded_gradient)
    return "from a gradient without a graph: take it with {.create_graph = true}, or detach() it";
  if (ModelParameters::is_orphan(leaf))
    return "of a layer that is gone: was it made within forward? Make it a member of the model";
  const auto model = ModelParameters::of(leaf);
  if (!model)
    return "a variable that no module knows: declare it with param(...), and assign to parameters by assign()";
  if (known.contains(model.get())) return "left out, or declared after the optimizer was made";
  const auto same = [&](const Tensor& parameter) {
    return parameter.name() == leaf->name() && parameter.shape() == leaf->shape();
  };
  if (!leaf->name().empty() && std::ranges::any_of(optimizer.parameters(), same)) {
    return "of another instance of the same model: the loss was not computed by the one that is trained";
  }
  return "of another model: its layer stands at nn::root, or its class takes no place";
}

}  // namespace

Audit audit(const Tensor& loss, const Optimizer& optimizer) {
  if (!loss.requires_grad())
    fail<GraphError>("audit", "the loss has no graph: it was computed under NoGrad, or from constants");
  const Upstream upstream = upstream_of(xgrad::detail::Engine::node(loss).get());
  const std::unordered_set<const Node*> reached(upstream.leaves.begin(), upstream.leaves.end());

  Audit result;
  result.at_rest = true;
  for (int group = 0; group < optimizer.groups(); ++group) result.at_rest &= optimizer.lr(group) == 0;
  std::unordered_set<const Node*> parameters;
  std::unordered_set<const ModelParameters*> models;
  for (const Tensor& parameter : optimizer.parameters()) {
    const Node* node = xgrad::detail::Engine::node(parameter).get();
    if (node && reached.contains(node)) {
      result.trained.push_back({parameter.name(), parameter.shape(), {}});
    } else {
      result.unreached.push_back({parameter.name(), parameter.shape(), why_unreached(parameter, upstream)});
    }
    if (!node) continue;
    if (parameter.has_grad()) result.passes = std::max(result.passes, node->extras->passes);
    parameters.insert(node);
    models.insert(ModelParameters::of(node).get());
  }
  for (const Node* leaf : upstream.leaves) {
    if (parameters.contains(leaf)) continue;
    result.untrained.push_back({std::string(leaf->name()), leaf->shape(), why_untrained(leaf, models, optimizer)});
  }
  for (const Node* factor : upstream.factors) {
    result.constants.push_back(
        {{}, factor->shape(), "a factor in a module: if it is to be trained, declare it with param(...)"});
  }
  return result;
}

std::string to_string(const Audit& audit) {
  std::string text =
      audit.clean() ? str("audit: the loss reaches every parameter (", audit.trained.size(), ") and no other leaf\n")
                    : str("audit: ", audit.trained.size(), " trained, ", audit.untrained.size(), " not trained, ",
                          audit.unreached.size(), " not reached\n");
  const auto add = [&](std::string_view what, const std::vector<Audit::Line>& lines) {
    for (const Audit::Line& line : lines) {
      append(text,
             str("  ", what, ": ", line.name.empty() ? "(no name)" : line.name, " ", line.shape, ": ", line.why, "\n"));
    }
  };
  add("not trained", audit.untrained);
  add("not reached", audit.unreached);
  add("a constant", audit.constants);
  if (audit.at_rest) append(text, "  the learning rate is 0: no step changes anything\n");
  if (audit.passes > 1) {
    append(text, str("  gradients are sums over ", audit.passes, " backward passes: right if they are accumulated, ",
                     "else zero_grad() was forgotten\n"));
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Audit& audit) { return out << to_string(audit); }

}  // namespace xgrad::optim
