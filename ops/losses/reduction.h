// Reductions of the losses of samples or elements. With Reduction::mean all losses throw ValueError where there are no
// samples at all (ops/reduce/reduce.h).
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

// g++ warns that the enumerator hides xgrad::none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// The reduction of the losses of samples.
enum class Reduction {
  mean,  ///< their mean (over samples that are not ignored)
  sum,   ///< their sum
  none,  ///< they are returned one by one
};
#pragma GCC diagnostic pop

struct LossOptions {
  Reduction reduction = Reduction::mean;
};

namespace detail {

/// The losses, reduced. Throws as refuse_nothing, for the losses.
Tensor reduced(const char* op, const Tensor& losses, Reduction reduction);
/// Throws ValueError if the mean of no samples is asked for; the error shows the shape of x.
void refuse_nothing(const char* op, const Tensor& x, std::int64_t samples, Reduction reduction);

/// Throws ShapeError unless both have one shape.
void check_same_shape(const char* op, const Tensor& a, const Tensor& b);

}  // namespace detail

}  // namespace xgrad
