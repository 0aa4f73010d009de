// The distinct numbers of an array. No gradients.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The distinct numbers of an array.
template <class T>
struct Unique {
  BasicArray<T> values;  ///< ascending
  Index inverse;         ///< of the array's shape: the position of each element in `values`
  Index counts;          ///< how often each value occurs
};
/// The distinct numbers, sorted. All NaN are one, as in numpy (PyTorch: each is one of its own), and -0 is 0.
Unique<Real> unique(const Tensor& x);
Unique<std::int64_t> unique(const Index& x);

}  // namespace xgrad
