// Axes of operations along single elements, in PyTorch's sense. Private.
#pragma once

#include <string_view>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The axis counted from 0, as normalize_axis, for operations along single elements: reductions, sorting, cumulative
/// sums. A scalar has axes 0 and -1, for which the result is 0.
inline int normalize_axis_or_scalar(std::string_view op, int axis, int rank) {
  if (rank == 0 && (axis == 0 || axis == -1)) return 0;
  return normalize_axis(op, axis, rank);
}

/// The shape after a reduction over these axes, counted from 0, with size 1 in their place.
inline Shape kept_shape(Shape shape, const Axes& axes) {
  for (const int axis : axes) shape[axis] = 1;
  return shape;
}

/// The shape after a reduction, with the axes of size 1 or without them.
inline Shape reduced_shape(Shape shape, const Axes& axes, bool keepdim) {
  if (keepdim) return kept_shape(shape, axes);
  for (int i = axes.size(); i-- > 0;) shape.erase(axes[i]);
  return shape;
}

/// gather(x, axis, positions) without a check of the positions, which a kernel chose. The axis counts from 0.
Tensor gathered(const Tensor& x, int axis, const Index& positions);

/// The number of elements that are reduced to one.
inline std::int64_t count_of(const Shape& shape, const Axes& axes) {
  std::int64_t count = 1;
  for (const int axis : axes) count *= shape[axis];
  return count;
}

}  // namespace xgrad
