// Parts of tensors: slices, pieces, and what puts them back.
//
// What is declared for BasicArray works for Array, Index and Mask without a graph, and means the same as for tensors.
#pragma once

#include <vector>

#include "../core/tensor.h"

namespace xgrad {

/// A part of x, what x[{...}] means: see core/slice.h. Throws ValueError as Tensor::operator[].
Tensor slice(const Tensor& x, const Slices& slices);
template <class T>
BasicArray<T> slice(const BasicArray<T>& x, const Slices& slices);
/// The dual of slice: zeros of `shape`, but x at `slices`. Throws ShapeError unless x has the shape of that part.
Tensor place(const Tensor& x, const Slices& slices, const Shape& shape);
/// Positions start ... start + length - 1 of an axis. Throws ValueError when they are not all there.
Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length);
/// The parts of x that follow each other along `axis` with these lengths. Throws ShapeError unless they add up.
Tensors split(const Tensor& x, const std::vector<std::int64_t>& lengths, int axis = 0);
/// Parts of `size` positions along `axis`; the last may be shorter. Throws ValueError for a size below 1.
Tensors split(const Tensor& x, std::int64_t size, int axis = 0);
/// The parts of x at each position of `axis`, without that axis. Throws ValueError for an axis out of range.
Tensors unbind(const Tensor& x, int axis = 0);
/// x in `count` parts of ceil(size / count) positions along `axis`; the last may be shorter or missing. Throws
/// ValueError for count < 1, LimitError for more than 2^24 parts of an empty axis.
Tensors chunk(const Tensor& x, std::int64_t count, int axis = 0);

/// How many elements to add at both ends of an axis.
struct Padding {
  std::int64_t before = 0;
  std::int64_t after = 0;
};
/// x with `value` around it, one Padding per axis: pad(x, {{0, 0}, {1, 2}}) adds one column before and two behind. The
/// dual of slice. Throws ValueError for a wrong number of paddings or a negative one.
Tensor pad(const Tensor& x, const ShortList<Padding>& paddings, Real value = 0);

/// Writes `values`, repeated to its shape,, to a part of an array. Throws ShapeError when they do not fit, and as
/// slice().
template <class T>
void assign_part(BasicArray<T>& to, const Slices& slices, const BasicArray<T>& values);

}  // namespace xgrad
