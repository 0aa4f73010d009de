// Counting true elements and equal numbers. No gradients, except to weights.
// Axes as for reductions: ValueError for one out of range or repeated.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// Whether at least one element is true, over axes; false if there are none. (Of all elements: any(mask), in
/// ops/elementwise/compare.h.)
Mask any(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});
/// Whether all elements are true, over axes; true if there are none.
Mask all(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});

struct BincountOptions {
  std::int64_t minlength = 0;  ///< the least length of the result
};
/// y_i = how often i occurs in the list x; max(x) + 1 numbers, or more. Throws ShapeError unless x has one axis,
/// ValueError for a negative number in it or a negative minlength, LimitError for a number too large for the memory.
Index bincount(const Index& x, const BincountOptions& options = {});
/// y_i = sum of weights_j with x_j = i.      dL/dweights_j = gy_(x_j). Throws ShapeError, too, unless the weights have
/// the shape of x.
Tensor bincount(const Index& x, const Tensor& weights, const BincountOptions& options = {});

}  // namespace xgrad
