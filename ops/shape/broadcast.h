// Repeating along axes (broadcast_to), and its dual, summing (sum_to).
//
// Overloads for BasicArray take Array, Index and Mask, record no graph, and mean the same as those for tensors.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Repeats x along new leading axes and axes of size 1. A size of -1 keeps the size of x. The dual of sum_to. Throws
/// ShapeError if x does not broadcast to the shape, and LimitError when the size overflows, as all operations do.
Tensor broadcast_to(const Tensor& x, const Shape& shape);
template <class T>
BasicArray<T> broadcast_to(const BasicArray<T>& x, const Shape& shape);

/// Sums x to `shape`, over the axes along which broadcast_to would repeat an array of this shape to the shape of x. The
/// dual of broadcast_to. Returns x itself if the shapes are equal. Throws ShapeError if the shapes do not fit.
Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace xgrad
