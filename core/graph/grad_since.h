// A backward pass through the newest part of a graph, for rules that record operations and differentiate them.
#pragma once

#include "tensor.h"

namespace xgrad {

struct GradOptions;

namespace detail {

/// As grad(), through that part of the graph alone that was recorded since `oldest`, the id of a node. What lies behind
/// it may be in use by another pass.
Tensors grad_since(std::uint64_t oldest, const Tensor& y, const Tensors& xs, const GradOptions& options);

}  // namespace detail

}  // namespace xgrad
