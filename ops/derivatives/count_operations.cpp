// Counting the multiply-adds of a recorded graph.
#include "count_operations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "../../core/base/error.h"
#include "../../core/graph/node.h"

namespace xgrad {

GraphOverlay multiply_adds_overlay() {
  return {.title = "multiply-adds", .of_node = [](const Node& node) -> std::optional<double> {
            const std::int64_t count = node.multiply_adds();
            return count == 0 ? std::nullopt : std::optional(static_cast<double>(count));
          }};
}

std::int64_t count_operations(const Tensors& results) {
  std::vector<const Node*> nodes;
  for (const Tensor& result : results) {
    const Node* node = detail::Engine::node(result).get();
    if (node && std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  std::int64_t total = 0;
  detail::walk_graph(
      std::move(nodes),
      [&](const Node& node) {
        total = checked_add("count_operations", total, node.multiply_adds());
        return true;
      },
      [](const Edge&) { return true; });
  return total;
}

}  // namespace xgrad
