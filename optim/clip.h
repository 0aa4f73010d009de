// Gradient clipping, for lists of gradients and for those that backward() has accumulated.
//
//     auto [gradients, norm] = optim::clip_grad_norm(grad(loss, parameters), parameters, 1.0);
//     adam.step(gradients);
//
//     loss.backward();
//     const double length = optim::clip_grad_norm(parameters, 1.0);
#pragma once

#include "../core/graph/tensor.h"

namespace xgrad::optim {

// All throw ValueError for a parameter that stands twice, as the optimizers do. Threads: one at a time for the same
// gradients.

struct Clipped {
  Tensors gradients;
  double norm = 0;  ///< before clipping
};

struct ClipOptions {
  double norm_type = 2;  ///< the order of the norm: above 0, infinity for the largest
};

/// Scales all gradients by max_norm / (norm + 1e-6), if that is below 1; norm is that of all of them together, the
/// Euclidean one unless another order is asked for, (sum |g|^p)^(1/p), summed in double, and cannot overflow. Undefined
/// gradients stay so. The numbers are changed in place where they have no other owner, as after std::move or straight
/// from grad(). `parameters`, in the same order, lend their names to the error: throws NumericError for a gradient that
/// is not finite, ValueError for a max_norm that is negative or NaN, an order that is not above 0, or lists of
/// different lengths.
Clipped clip_grad_norm(Tensors gradients, const Tensors& parameters, double max_norm, const ClipOptions& options = {});
/// The same for the gradients in the parameters, where there are any; returns the norm. When it throws, nothing has
/// changed.
double clip_grad_norm(const Tensors& parameters, double max_norm, const ClipOptions& options = {});

}  // namespace xgrad::optim
