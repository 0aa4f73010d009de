// Counting the multiply-adds of a recorded graph.
#pragma once

#include <cstdint>

#include "../../core/diagram/view/view.h"
#include "../../core/graph/tensor.h"

namespace xgrad {

/// The multiply-adds of all matrix products, attentions, convolutions and recurrences that these results come from,
/// each once, from the shapes in the graph: of y = a b with a (m, k) and b (k, n) it is m n k; of T queries and S keys
/// of width C with values of width E it is T S (C + E), whatever a mask leaves out; of a convolution it is
/// the elements of the kernel for one channel of the result times the elements of the result. Everything else (sums,
/// norms, activations) counts 0, as does anything computed without a graph. Throws LimitError for more than 2^63 - 1.
///
///     count_operations({model(x)})        // where x or the model's parameters require gradients
std::int64_t count_operations(const Tensors& results);

/// For GraphOptions::overlay: the multiply-adds of each operation that has some.
GraphOverlay multiply_adds_overlay();

}  // namespace xgrad
