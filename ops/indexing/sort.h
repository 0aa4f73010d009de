// Order along an axis: sort, argsort, topk. A scalar has axes 0 and -1 with its one element, as in PyTorch.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

struct SortOptions {
  bool descending = false;
};
/// Values and their positions along the axis in x; gradients flow through the values.
struct [[nodiscard]] Sorted {
  Tensor values;
  Index indices;
};
/// Sorted along an axis, stable (equal elements keep their order). NaN counts as larger than every number.
/// Throws ValueError for an axis out of range.
Sorted sort(const Tensor& x, int axis = -1, const SortOptions& options = {});
/// The indices of sort().
Index argsort(const Tensor& x, int axis = -1, const SortOptions& options = {});

struct TopkOptions {
  bool largest = true;
};
/// The k largest (smallest) elements along an axis, the most extreme first, equal ones in their order. NaN counts as
/// larger than every number. Throws ValueError unless 0 <= k <= size.
Sorted topk(const Tensor& x, std::int64_t k, int axis = -1, const TopkOptions& options = {});

}  // namespace xgrad
