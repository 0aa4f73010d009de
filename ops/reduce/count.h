// Counting true elements and equal numbers. Gradients flow only to weights.
// As in reductions, an axis out of range or repeated throws ValueError.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// Whether at least one element along the axes is true; false if there are no elements. (For all axes see any(mask) in
/// ops/elementwise/compare.h.)
Mask any(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});
/// Whether all elements along the axes are true; true if there are no elements.
Mask all(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});

struct BincountOptions {
  std::int64_t minlength = 0;  ///< the least length of the result
};
/// y_i = the number of times that i occurs in the list x. y has max(x) + 1 elements, or minlength if that is more.
/// Throws ShapeError unless x has one axis, ValueError for a negative element or minlength, LimitError if y does not
/// fit the memory.
Index bincount(const Index& x, const BincountOptions& options = {});
/// y_i = sum of weights_j with x_j = i.      dL/dweights_j = gy_(x_j). Also throws ShapeError unless the weights have
/// the shape of x.
Tensor bincount(const Index& x, const Tensor& weights, const BincountOptions& options = {});

}  // namespace xgrad
