// Why a tensor has no gradient, in a sentence.
//
//     loss.backward();
//     std::cout << why_no_grad(w) << "\n" << why_no_grad(w, loss) << "\n";
#pragma once

#include <string>

#include "../graph/tensor.h"

namespace xgrad {

/// What stands between x and x.grad(), and what to do about it, as far as x itself tells: that it is undefined, a
/// constant, frozen, computed under NoGrad, a gradient without a graph, a result that keeps none, or that no backward()
/// has reached it; or that the gradient is there. Changes nothing.
std::string why_no_grad(const Tensor& x);

/// The same, knowing the loss whose gradient it should be: also whether the loss has a graph, whether it depends on x,
/// and whether its backward() has run. Throws GraphError for an undefined loss.
std::string why_no_grad(const Tensor& x, const Tensor& loss);

}  // namespace xgrad
