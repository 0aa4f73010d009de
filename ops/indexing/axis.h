// Axes of operations along single elements, in PyTorch's sense. Private.
#pragma once

#include <span>
#include <string_view>

#include "../../core/graph/record.h"
#include "../../core/graph/tensor.h"
#include "../shape/shape.h"

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

/// The sizes of all axes but the last `count`.
inline Shape leading(const Shape& shape, int count) {
  return Shape(ShortList<std::int64_t>(std::span(shape.begin(), shape.end() - count)));
}
/// The sizes of a, followed by those of b.
inline Shape joined(Shape a, const Shape& b) {
  for (const std::int64_t size : b) a.push_back(size);
  return a;
}

/// A shape whose axis of normalize_axis_or_scalar exists: a scalar is a list of one element.
inline Shape with_an_axis(const Shape& shape) { return shape.rank() == 0 ? Shape{1} : shape; }

/// reshape, but x itself where nothing changes, so that compositions have no operation that does nothing.
inline Tensor in_shape(const Tensor& x, const Shape& shape) { return x.shape() == shape ? x : reshape(x, shape); }

/// The elements of x at these positions along an axis, and zeros with x_i added at the positions: gather and
/// scatter_add without checks. The axis and the positions count from 0.
Array taken_along(const Array& x, int axis, const Index& positions);
Tensor added_along(const Tensor& x, int axis, const Index& positions, const Shape& shape);

/// The same for whole positions of the axis, of which there is a list: index_select and index_add.
Array rows_along(const Array& x, int axis, const Index& positions);
Tensor added_rows_along(const Tensor& x, int axis, const Index& positions, const Shape& shape);

/// The result of the operation `op`, whose kernel chose positions along an axis from the numbers of x, which it saw as
/// `line`: the elements at these positions, to which the gradient flows, in the shape `to`.
template <class... Attributes>
Tensor chosen_along(const char* op, const Tensor& x, const Shape& line, int axis, const Index& positions,
                    const Shape& to, const Attributes&... attributes) {
  return record(op, taken_along(x.value().reshaped(line), axis, positions).reshaped(to),
                wrt(x,
                    [line, axis, positions](const Tensor& gy, InputShape shape) {
                      return reshape(added_along(reshape(gy, positions.shape()), axis, positions, line), shape);
                    }),
                attributes...);
}

/// The same for whole positions of the axis.
template <class... Attributes>
Tensor chosen_rows_along(const char* op, const Tensor& x, const Shape& line, int axis, const Index& positions,
                         const Shape& to, const Attributes&... attributes) {
  return record(op, rows_along(x.value().reshaped(line), axis, positions).reshaped(to),
                wrt(x,
                    [line, axis, positions](const Tensor& gy, InputShape shape) {
                      Shape rows = line;
                      rows[axis] = positions.size();
                      return reshape(added_rows_along(reshape(gy, rows), axis, positions, line), shape);
                    }),
                attributes...);
}

/// The number of elements that are reduced to one.
inline std::int64_t count_of(const Shape& shape, const Axes& axes) {
  std::int64_t count = 1;
  for (const int axis : axes) count *= shape[axis];
  return count;
}

}  // namespace xgrad
