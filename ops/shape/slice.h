// Parts of tensors: slicing, splitting and padding.
//
// Overloads for BasicArray take Array, Index and Mask, record no graph, and mean the same as those for tensors.
#pragma once

#include <initializer_list>
#include <vector>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// A part of x, like x[{...}]: see core/array/slice.h. Throws as Tensor::operator[].
Tensor slice(const Tensor& x, const Slices& slices);
template <class T>
BasicArray<T> slice(const BasicArray<T>& x, const Slices& slices);
/// The dual of slice: zeros of `shape` with x at `slices`. Throws ShapeError unless x has the shape of that part.
Tensor place(const Tensor& x, const Slices& slices, const Shape& shape);
/// x with `values` written to a part, as numpy's x[...] = values: index_put(x, {ellipsis, slice(1, 3)}, y). The values
/// are broadcast to the part. Throws ShapeError when they do not fit, and what slice() throws.
///   dL/dx = gy, 0 at that part      dL/dvalues = that part of gy
Tensor index_put(const Tensor& x, const Slices& slices, const Tensor& values);
/// The positions start ... start + length - 1 of an axis. Throws ValueError unless the axis has all of them.
Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length);
/// Consecutive parts of x along `axis` with these lengths. Throws ShapeError unless their sum is the axis's size.
[[nodiscard]] Tensors split(const Tensor& x, const std::vector<std::int64_t>& lengths, int axis = 0);
/// The same with the lengths in braces, even for a single length.
[[nodiscard]] Tensors split(const Tensor& x, std::initializer_list<std::int64_t> lengths, int axis = 0);
/// Parts of `size` positions along `axis`; the last may be shorter. Throws ValueError for a size below 1.
[[nodiscard]] Tensors split(const Tensor& x, std::int64_t size, int axis = 0);
/// The parts of x at each position of `axis`, without that axis. Throws ValueError for an axis out of range.
[[nodiscard]] Tensors unbind(const Tensor& x, int axis = 0);
/// Splits x into `count` parts of ceil(size / count) positions along `axis`. The last parts may be shorter or missing.
/// Throws ValueError for count < 1, LimitError for more than 2^24 parts of an empty axis.
[[nodiscard]] Tensors chunk(const Tensor& x, std::int64_t count, int axis = 0);

/// The number of elements to add at each end of an axis.
struct Padding {
  std::int64_t before = 0;
  std::int64_t after = 0;
};
/// The elements of x that pad() puts around x.
enum class PadMode {
  reflect,    ///< x mirrored at its last element: c b | a b c | b a
  replicate,  ///< the last element: a a | a b c | c c
  circular    ///< x continued from its other end: b c | a b c | a b
};

/// x with `value` around it, by one Padding for each axis: pad(x, {{0, 0}, {1, 2}}) adds one column before x and two
/// after it. The dual of slice. Throws ValueError for a wrong number of paddings or a negative one.
Tensor pad(const Tensor& x, const ShortList<Padding>& paddings, double value = 0);
/// x with its own elements around it. Throws as above, and ShapeError if an axis is too short: reflect needs an axis
/// longer than each padding, circular an axis at least as long, replicate one element. Gradients go to the copied
/// elements.
Tensor pad(const Tensor& x, const ShortList<Padding>& paddings, PadMode mode);

namespace detail {
/// Throws ShapeError unless an array of shape `values` can be written to a part of shape `part`.
void check_values(const char* op, const Shape& values, const Shape& part);
/// The shape that pad() gives. Throws as pad().
Shape padded_shape(const Shape& x, const ShortList<Padding>& paddings);
}  // namespace detail

/// Writes `values` to a part of an array. The values are broadcast to the part. Throws ShapeError when they do not fit,
/// and what slice() throws.
template <class T>
void assign_part(BasicArray<T>& to, const Slices& slices, const BasicArray<T>& values);

}  // namespace xgrad
