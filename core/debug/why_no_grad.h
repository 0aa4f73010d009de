// Explains in a sentence why a tensor has no gradient.
//
//     std::cout << why_no_grad(w, loss) << "\n";
#pragma once

#include <string>

#include "../graph/tensor.h"

namespace xgrad {

/// Why x has no gradient, and the remedy: it is undefined, a constant, frozen, computed under NoGrad, a gradient
/// without a graph, or a result that keeps none; the loss has no graph or does not depend on it; or backward() has not
/// run. Or the gradient is there. Changes nothing. Throws GraphError for an undefined loss.
///
/// x.grad() without a gradient throws an error that says what x alone tells.
std::string why_no_grad(const Tensor& x, const Tensor& loss);

}  // namespace xgrad
