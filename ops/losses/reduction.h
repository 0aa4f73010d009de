// What becomes of the losses of single samples or elements. There is no mean of nothing (ops/reduce/reduce.h): with
// Reduction::mean all losses throw ValueError where there are no samples at all.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

// To g++ the enumerator hides xgrad::none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// What becomes of the losses of single samples.
enum class Reduction {
  mean,  ///< their mean (over the samples that count)
  sum,   ///< their sum
  none,  ///< they are returned one by one
};
#pragma GCC diagnostic pop

struct LossOptions {
  Reduction reduction = Reduction::mean;
};

namespace detail {

/// The losses as the reduction has them. Throws as refuse_nothing, for the losses.
Tensor reduced(const char* op, const Tensor& losses, Reduction reduction);
/// Throws ValueError if the mean of no samples is asked for; x is what the error shows.
void refuse_nothing(const char* op, const Tensor& x, std::int64_t samples, Reduction reduction);

/// Throws ShapeError unless both have one shape.
void check_same_shape(const char* op, const Tensor& a, const Tensor& b);

}  // namespace detail

}  // namespace xgrad
