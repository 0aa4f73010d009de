// What is drawn of a graph.
#include "view.h"

#include "collect.h"
#include "fold.h"
#include "order.h"

namespace xgrad {
namespace {

constexpr std::size_t fits_on_a_page = 64;  // edges

GraphView small_enough(const GraphView& view, const GraphOptions& options) {
  const int deepest = detail::deepest_level(view);
  if (options.depth != automatic_depth) return options.depth < deepest ? detail::folded(view, options.depth) : view;
  GraphView smaller = view;
  for (int depth = deepest; depth-- > 0 && smaller.edges.size() > fits_on_a_page;) {
    smaller = detail::folded(view, depth);
  }
  return smaller;
}

}  // namespace

GraphView GraphView::of(const Tensors& results, const GraphOptions& options, std::string_view caller) {
  if (results.empty()) fail<GraphError>(caller, "no tensor was given");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) fail<GraphError>(caller, "tensor ", i, " is undefined");
  }
  if (options.depth < automatic_depth) fail<ValueError>(caller, "depth ", options.depth, " is negative");
  GraphView view = detail::everything(results, options);
  const auto limit = [&] {
    const auto count = static_cast<std::int64_t>(view.vertices.size());
    if (count <= options.max_nodes) return;
    fail<LimitError>(caller, count, " vertices to draw, max_nodes is ", options.max_nodes,
                     "; fold modules with .depth, or raise .max_nodes");
  };
  if (view.clusters.empty()) limit();
  if (options.roll_up) view = detail::rolled_up(std::move(view));
  view = small_enough(view, options);
  limit();
  const std::vector<int> numbers = detail::topological_numbers(view);
  return detail::renumbered(std::move(view), numbers);
}

}  // namespace xgrad
