// Reductions of the losses of samples or elements. With Reduction::mean all losses throw ValueError if there are no
// samples (ops/reduce/reduce.h).
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

// g++ warns that the enumerator hides xgrad::none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// The reduction of the losses of samples.
enum class Reduction {
  mean,  ///< the mean of the losses (of samples that are not ignored)
  sum,   ///< the sum of the losses
  none,  ///< no reduction: one loss for each sample
};
#pragma GCC diagnostic pop

struct LossOptions {
  Reduction reduction = Reduction::mean;
};

namespace detail {

/// The reduced losses. Throws as refuse_nothing.
Tensor reduced(const char* op, const Tensor& losses, Reduction reduction);
/// Throws ValueError for the mean of no samples. The error shows the shape of x.
void refuse_nothing(const char* op, const Tensor& x, std::int64_t samples, Reduction reduction);

/// Throws ShapeError unless a and b have the same shape.
void check_same_shape(const char* op, const Tensor& a, const Tensor& b);

}  // namespace detail

}  // namespace xgrad
