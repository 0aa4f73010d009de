// Explains in a sentence why a tensor has no gradient.
//
//     loss.backward();
//     std::cout << why_no_grad(w) << "\n" << why_no_grad(w, loss) << "\n";
#pragma once

#include <string>

#include "../graph/tensor.h"

namespace xgrad {

/// Why x has no gradient, and the remedy, as far as x itself tells: it is undefined, a constant, frozen, computed under
/// NoGrad, a gradient without a graph, or a result that keeps none, or no backward() has reached it; or the gradient is
/// there. Changes nothing.
std::string why_no_grad(const Tensor& x);

/// The same, knowing the loss that was differentiated: also whether the loss has a graph, whether it depends on x, and
/// whether its backward() has run. Throws GraphError for an undefined loss.
std::string why_no_grad(const Tensor& x, const Tensor& loss);

}  // namespace xgrad
