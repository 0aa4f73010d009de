// What a recorded graph takes to compute.
#include "count_operations.h"

#include <string_view>
#include <unordered_set>
#include <vector>

#include "../../core/base/error.h"
#include "../../core/graph/node.h"

namespace xgrad {
namespace {

std::int64_t times(std::int64_t a, std::int64_t b) { return checked_multiply("count_operations", a, b); }

// Of each number of a product with a (..., m, k) or (..., k, m), or of a vector (k).
std::int64_t inner_size(const Shape& a, const Shape& b, const Shape& y) {
  if (a.rank() == 1) return a[0];
  const std::int64_t rows = b.rank() == 1 ? y.dim(-1) : y.dim(-2);
  return rows == 0 ? 0 : a.dim(-1) * a.dim(-2) / rows;
}

// Of each number of the side that has as many channels as the kernel has entries on its first axis.
std::int64_t kernel_size(const Shape& kernel) { return kernel[0] == 0 ? 0 : kernel.numel() / kernel[0]; }

}  // namespace

std::int64_t operations_of(const Node& operation) {
  const std::string_view op = operation.op;
  const Shape y = operation.shape();
  const auto input = [&](std::size_t i) { return operation.edges()[i].to->shape(); };
  if (op == "matmul") return times(y.numel(), inner_size(input(0), input(1), y));
  if (op == "linear") return times(y.numel(), input(0).back());
  if (op == "attention") {
    // Queries, keys and values, or one tensor with all of them side by side; a bias may come after.
    const bool packed = operation.edges().size() < 3;
    const std::int64_t width = packed ? y.back() : input(0).back(), keys = packed ? y.dim(-2) : input(1).dim(-2);
    const std::int64_t queries = y.back() == 0 ? 0 : y.numel() / y.back();
    return times(times(queries, keys), width + y.back());
  }
  if (op == "conv2d" || op == "conv1d" || op == "conv") return times(y.numel(), kernel_size(input(1)));
  if (op == "conv_transpose2d" || op == "conv_transpose") return times(input(0).numel(), kernel_size(input(1)));
  if (op == "conv_kernel") return times(input(1).numel(), kernel_size(y));
  // All gates of all steps, from the state before.
  if (op == "rnn" || op == "lstm" || op == "gru") return times(input(0).numel(), input(1).dim(1));
  return 0;
}

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
