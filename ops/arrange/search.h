// Finding places in sorted sequences, and the distinct numbers of an array. No gradients. NaN counts as larger than
// every number, and all NaN as equal.
#pragma once

#include <vector>

#include "../../core/graph/tensor.h"

namespace xgrad {

struct SearchOptions {
  bool right = false;  ///< behind equal elements; else before them
};
/// Where each value belongs in a sorted sequence: i with sequence[i - 1] < v <= sequence[i], or, on the right side,
/// sequence[i - 1] <= v < sequence[i]. The sequence is a list, or has rows (..., n) for values (..., m). Throws
/// ShapeError unless the shapes fit, ValueError for a sequence that is not ascending.
Index searchsorted(const Tensor& sequence, const Tensor& values, const SearchOptions& options = {});
/// The number of the interval between boundaries, a sorted list, in which each value lies: searchsorted of a list, with
/// the arguments in PyTorch's order. Throws likewise.
Index bucketize(const Tensor& values, const Tensor& boundaries, const SearchOptions& options = {});

/// Whether each element is one of those of `test`. NaN never is.
Mask isin(const Tensor& elements, const Tensor& test);
Mask isin(const Index& elements, const Index& test);

/// Where the elements with these numbers, counted through an array of that shape, stand: an Index for each axis, of the
/// shape of `index`. Throws ValueError for a number outside [0, size).
std::vector<Index> unravel_index(const Index& index, const Shape& shape);

/// The distinct numbers of an array.
template <class T>
struct Unique {
  BasicArray<T> values;  ///< ascending (of unique_consecutive: in their order)
  Index inverse;         ///< of the array's shape: the place of each number among the values
  Index counts;          ///< how often each value stands in the array
};
/// The distinct numbers, sorted. All NaN are one, as in numpy (PyTorch: each is one of its own), and -0 is 0.
Unique<Real> unique(const Tensor& x);
Unique<std::int64_t> unique(const Index& x);
/// The numbers of an array, read row by row, each as often as it begins anew: of equal ones that follow each other,
/// one. The values are in their order, not sorted; NaN equals nothing.
Unique<Real> unique_consecutive(const Tensor& x);
Unique<std::int64_t> unique_consecutive(const Index& x);

}  // namespace xgrad
