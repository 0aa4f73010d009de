// The distinct elements of an array, without gradients.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The results of unique.
template <class T>
struct [[nodiscard]] Unique {
  BasicArray<T> values;  ///< ascending
  Index inverse;         ///< the position of each element in `values`, in the shape of x
  Index counts;          ///< how often each value occurs
};
/// The distinct elements, sorted. All NaN count as one, as in numpy (in PyTorch each NaN is distinct); -0 equals 0.
Unique<Real> unique(const Tensor& x);
Unique<std::int64_t> unique(const Index& x);

}  // namespace xgrad
