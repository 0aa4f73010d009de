// What a recorded graph takes to compute.
#include "count_operations.h"

#include <unordered_set>
#include <vector>

#include "../../core/base/error.h"
#include "../../core/graph/node.h"

namespace xgrad {

std::int64_t operations_of(const Node& operation) { return operation.multiply_adds(); }

GraphOverlay multiply_adds_overlay() {
  return {.title = "multiply-adds", .of_node = [](const Node& node) -> std::optional<double> {
            const std::int64_t count = operations_of(node);
            return count == 0 ? std::nullopt : std::optional(static_cast<double>(count));
          }};
}

std::int64_t count_operations(const Tensors& results) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> waiting;
  const auto meet = [&](const Node* node) {
    if (node && seen.insert(node).second) waiting.push_back(node);
  };
  for (const Tensor& result : results) meet(result.node().get());
  std::int64_t total = 0;
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    total = checked_add("count_operations", total, operations_of(*node));
    for (const Edge& edge : node->edges()) meet(edge.to.get());
  }
  return total;
}

}  // namespace xgrad
