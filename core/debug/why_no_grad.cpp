// The cases in which there is no gradient, the most fundamental first.
#include "why_no_grad.h"

#include <algorithm>

namespace xgrad {
namespace {

std::string described(const Tensor& x) {
  return x.name().empty() ? cat("the tensor ", x.shape()) : cat("'", x.name(), "'");
}

enum class Reached { no, late, yes };

// Whether gradients flow from the loss to a node, or would if it had required them when the graph was recorded.
Reached reach(const Node* loss, const Node* target) {
  Reached result = Reached::no;
  detail::walk_graph(
      {loss},
      [&](const Node& node) {
        if (&node == target) result = Reached::yes;
        return result != Reached::yes;
      },
      [&](const Edge& edge) {
        if (!edge.carries && edge.to.get() == target) result = std::max(result, Reached::late);
        return edge.carries && edge.to->requires_grad && edge.to->id >= target->id;
      });
  return result;
}

// For a tensor that gradients flow to but that has none: whether it is a result that keeps none.
bool keeps_none(const Tensor& x) { return !x.is_leaf() && !(x.node()->extras && x.node()->extras->retain_grad); }

}  // namespace

std::string why_no_grad(const Tensor& x, const Tensor& loss) {
  const Ref<Node>& root = loss.node();
  if (!x.defined()) return "the tensor is undefined: no value was ever given to it";
  if (x.has_grad()) return cat(described(x), " has a gradient: grad() gives it");
  const std::string alone = cat(described(x), ' ', detail::Engine::why_no_grad(x));
  if (!x.requires_grad()) return alone;
  if (!loss.requires_grad()) return cat("the loss ", detail::Engine::why_no_grad(loss));
  switch (reach(root.get(), x.node().get())) {
    case Reached::no:
      return cat("the loss does not depend on ", described(x), ", or only through a value without history");
    case Reached::late:
      return cat(described(x),
                 " did not require a gradient yet when the loss was computed from it; run the forward pass again");
    case Reached::yes:
      break;
  }
  if (keeps_none(x)) return alone;
  if (!root->released) return cat("backward() of the loss has not run: ", described(x), " gets its gradient there");
  if (!x.is_leaf()) return alone;
  return cat("a backward pass of the loss has run, but it was grad(), which returns gradients and leaves none in ",
             described(x), ", or zero_grad() came after");
}

}  // namespace xgrad
