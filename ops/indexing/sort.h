// Order along an axis: sort, argsort, topk. A scalar accepts the axes 0 and -1, as in PyTorch.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

struct SortOptions {
  bool descending = false;
};
/// The result of sort and topk: values, and their positions along the axis of x. Gradients flow through the values.
struct [[nodiscard]] Sorted {
  Tensor values;
  Index indices;
};
/// Sorts along an axis. The sort is stable: equal elements keep their order. NaN counts as larger than every number.
/// Throws ValueError for an axis out of range.
Sorted sort(const Tensor& x, int axis = -1, const SortOptions& options = {});
/// The indices of sort().
Index argsort(const Tensor& x, int axis = -1, const SortOptions& options = {});

struct TopkOptions {
  bool largest = true;
};
/// The k largest (smallest) elements along an axis, the most extreme first; equal elements keep their order. NaN counts
/// as larger than every number. Throws ValueError unless 0 <= k <= size.
Sorted topk(const Tensor& x, std::int64_t k, int axis = -1, const TopkOptions& options = {});

}  // namespace xgrad
