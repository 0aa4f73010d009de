// Membership, positions in a shape, and the distinct numbers of an array. No gradients.
#pragma once

#include <vector>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Whether each element is one of those of `test`. NaN never is.
Mask isin(const Tensor& elements, const Tensor& test);
Mask isin(const Index& elements, const Index& test);

/// The coordinates of these positions in a flattened array of that shape: an Index for each axis, of the shape of
/// `index`. Throws ValueError for a number outside [0, size).
std::vector<Index> unravel_index(const Index& index, const Shape& shape);

/// The distinct numbers of an array.
template <class T>
struct Unique {
  BasicArray<T> values;  ///< ascending (of unique_consecutive: in their order)
  Index inverse;         ///< of the array's shape: the position of each element in `values`
  Index counts;          ///< how often each value occurs
};
/// The distinct numbers, sorted. All NaN are one, as in numpy (PyTorch: each is one of its own), and -0 is 0.
Unique<Real> unique(const Tensor& x);
Unique<std::int64_t> unique(const Index& x);
/// The numbers of an array in row-major order, each run of equal ones reduced to one. The values keep their order; NaN
/// equals nothing.
Unique<Real> unique_consecutive(const Tensor& x);
Unique<std::int64_t> unique_consecutive(const Index& x);

}  // namespace xgrad
