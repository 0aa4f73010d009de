// Counting the multiply-adds of a recorded graph.
#pragma once

#include <cstdint>

#include "../../core/diagram/view/view.h"
#include "../../core/graph/tensor.h"

namespace xgrad {

/// The number of multiply-adds of all matrix products, attentions, convolutions and recurrences that these results
/// depend on. Each operation counts once, by the shapes in the graph:
///   y = a b with a (m, k) and b (k, n): m n k
///   attention of T queries to S keys of width C with values of width E: T S (C + E), masked keys included
///   convolution: the elements of the result times the elements of the kernel for one channel of the result
/// Everything else (sums, norms, activations) counts 0, and so does anything computed without a graph. Throws
/// LimitError for more than 2^63 - 1.
///
///     count_operations({model(x)})        // where x or the model's parameters require gradients
std::int64_t count_operations(const Tensors& results);

/// An overlay for diagrams (GraphOptions::overlay): the multiply-adds of each operation that has some.
GraphOverlay multiply_adds_overlay();

}  // namespace xgrad
