// Changing shapes: the same numbers in another arrangement. Repeating, choosing and joining parts of arrays.
#pragma once

#include <vector>

#include <xgrad/core/tensor.h>

namespace xgrad::inline XGRAD_ABI {

/// The same elements in the same order under another shape; memory is shared. One size may be -1 and is computed.
/// Throws ShapeError when the counts differ, ValueError for a size below -1 or a second -1.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Axes first ... last as one. Throws ValueError for an axis out of range or first after last.
Tensor flatten(const Tensor& x, int first = 0, int last = -1);
/// Without its axes of size 1.
Tensor squeeze(const Tensor& x);
/// Without `axes`. Throws ShapeError unless they have size 1.
Tensor squeeze(const Tensor& x, const Axes& axes);
/// With a new axis of size 1 at position `axis` of the result. Throws ValueError for an axis out of range.
Tensor unsqueeze(const Tensor& x, int axis);

/// Axis i of the result is axis axes[i] of x. Throws ValueError unless `axes` names each axis once.
Tensor permute(const Tensor& x, const Axes& axes);
/// With two axes exchanged. Throws ValueError for an axis out of range.
Tensor transpose(const Tensor& x, int axis_a, int axis_b);
/// The matrix transpose: the last two axes exchanged. Throws ShapeError below two axes.
Tensor transpose(const Tensor& x);

/// Repeats x along new leading axes and axes of size 1; a size of -1 keeps x's. The dual of sum_to. Throws ShapeError.
Tensor broadcast_to(const Tensor& x, const Shape& shape);

/// A part of x, what x[{...}] means: see core/slice.h. Throws ValueError as Tensor::operator[].
Tensor slice(const Tensor& x, const Slices& slices);
/// The dual of slice: zeros of `shape`, but x at `slices`. Throws ShapeError unless x has the shape of that part.
Tensor place(const Tensor& x, const Slices& slices, const Shape& shape);
/// Positions start ... start + length - 1 of an axis. Throws ValueError when they are not all there.
Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length);

/// Joins tensors that differ along `axis` only. Throws ValueError for an empty list, ShapeError when others differ.
Tensor concat(const Tensors& xs, int axis = 0);
/// Joins tensors of one shape along a new axis at position `axis` of the result. Throws as concat.
Tensor stack(const Tensors& xs, int axis = 0);

}  // namespace xgrad::inline XGRAD_ABI
