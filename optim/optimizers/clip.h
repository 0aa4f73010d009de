// Gradient clipping, for a list of gradients and for the gradients that backward() has accumulated.
//
//     auto [gradients, norm] = optim::clip_grad_norm(grad(loss, parameters), parameters, 1.0);
//     adam.step(gradients);
//
//     loss.backward();
//     const double length = optim::clip_grad_norm(parameters, 1.0);
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad::optim {

// Both functions throw ValueError for a duplicate parameter. Threads: only one thread at a time for the same gradients.

struct [[nodiscard]] Clipped {
  Tensors gradients;
  double norm = 0;  ///< the norm before clipping
};

struct ClipOptions {
  double norm_type = 2;  ///< p, the order of the norm: above 0; infinity for the largest absolute value
};

/// Scales all gradients by max_norm / (norm + 1e-6) if this factor is below 1. norm is (sum |g|^p)^(1/p) over the
/// elements of all gradients, p = norm_type, summed in double without overflow. Undefined gradients stay undefined.
/// Arrays without another owner, as after std::move or directly from grad(), are changed in place. Throws NumericError,
/// which names the parameter, for a gradient that is not finite. Throws ValueError for a max_norm that is negative or
/// NaN, a norm_type that is not positive, or lists of different lengths.
Clipped clip_grad_norm(Tensors gradients, const Tensors& parameters, double max_norm, const ClipOptions& options = {});
/// The same for the gradients that backward() has accumulated in the parameters. Returns the norm before clipping. If
/// it throws, nothing is changed.
double clip_grad_norm(const Tensors& parameters, double max_norm, const ClipOptions& options = {});

}  // namespace xgrad::optim
