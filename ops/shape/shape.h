// Changing shapes: the same elements, reshaped, permuted, moved, repeated.
//
// Overloads for BasicArray take Array, Index and Mask, record no graph, and mean the same as those for tensors.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The same elements in the same order under another shape, with shared memory. One size may be -1: it is computed from
/// the others. Throws ShapeError unless exactly one shape fits, ValueError for a size below -1 or a second -1.
Tensor reshape(const Tensor& x, const Shape& shape);
template <class T>
BasicArray<T> reshape(const BasicArray<T>& x, const Shape& shape);
/// x with the axes first ... last merged into one. Throws ValueError for an axis out of range, or first after last.
Tensor flatten(const Tensor& x, int first = 0, int last = -1);
template <class T>
BasicArray<T> flatten(const BasicArray<T>& x, int first = 0, int last = -1);
/// x with one axis split into several of these sizes; one size may be -1 and is computed. The dual of flatten. Throws
/// ValueError for an axis out of range, and what reshape throws.
Tensor unflatten(const Tensor& x, int axis, const Shape& sizes);
/// x without its axes of size 1.
Tensor squeeze(const Tensor& x);
/// x without `axes`. Throws ShapeError unless they have size 1.
Tensor squeeze(const Tensor& x, const Axes& axes);
/// x with a new axis of size 1 at position `axis` of the result. Throws ValueError for an axis out of range.
Tensor unsqueeze(const Tensor& x, int axis);
template <class T>
BasicArray<T> unsqueeze(const BasicArray<T>& x, int axis);

/// Axis i of the result is axis axes[i] of x. Throws ValueError unless `axes` names each axis once.
Tensor permute(const Tensor& x, const Axes& axes);
template <class T>
BasicArray<T> permute(const BasicArray<T>& x, const Axes& axes);
/// x with two axes exchanged. Throws ValueError for an axis out of range.
Tensor transpose(const Tensor& x, int axis_a, int axis_b);
template <class T>
BasicArray<T> transpose(const BasicArray<T>& x, int axis_a, int axis_b);
/// The matrix transpose: the last two axes exchanged. Throws ShapeError below two axes.
Tensor transpose(const Tensor& x);
template <class T>
BasicArray<T> transpose(const BasicArray<T>& x);

/// x with axis from[i] moved to position to[i] for every i; the other axes keep their order. Throws ValueError for an
/// axis out of range or repeated, and unless both lists have the same length.
Tensor movedim(const Tensor& x, const Axes& from, const Axes& to);

/// x reversed along `axes`. Throws ValueError for an axis out of range or repeated.
Tensor flip(const Tensor& x, const Axes& axes);
/// x shifted by `shift` positions along `axis`; elements that leave at one end return at the other. Negative shifts
/// move towards the front. Throws ValueError for an axis out of range.
Tensor roll(const Tensor& x, std::int64_t shift, int axis);
/// x shifted along several axes, by shifts[i] along axes[i]. Also throws ValueError for lists of unequal length.
Tensor roll(const Tensor& x, const ShortList<std::int64_t>& shifts, const Axes& axes);

/// Repeats every position along `axis` `count` times in a row: a a b b. Throws ValueError for a negative count.
Tensor repeat_interleave(const Tensor& x, std::int64_t count, int axis);
/// Repeats all of x counts[i] times along axis i: a b a b. With more counts than axes, x gets new leading axes; with
/// fewer, the counts apply to the last axes. Throws ValueError for a negative count.
Tensor tile(const Tensor& x, const Shape& counts);

/// The axes of the result along which the lists of meshgrid run.
enum class MeshIndexing {
  ij,  ///< list i along axis i, as the indices of a matrix
  xy   ///< like ij with the first two axes exchanged: list 0 along the columns, list 1 along the rows
};
struct MeshgridOptions {
  MeshIndexing indexing = MeshIndexing::ij;
};
/// The coordinates of a grid: each list (or scalar), repeated along the axes of all other lists. Two lists (m), (n)
/// give two tensors (m, n), or (n, m) with xy. Throws ShapeError for a tensor with more than one axis, ValueError for
/// no list.
[[nodiscard]] Tensors meshgrid(const Tensors& lists, const MeshgridOptions& options = {});

/// The elements on and below a diagonal of the last two axes, zero above: x_ij where j <= i + offset.
/// Throws ShapeError below two axes.
Tensor tril(const Tensor& x, std::int64_t offset = 0);
Mask tril(const Mask& x, std::int64_t offset = 0);
/// The elements on and above a diagonal, zero below: x_ij where j >= i + offset. Throws as tril.
Tensor triu(const Tensor& x, std::int64_t offset = 0);
Mask triu(const Mask& x, std::int64_t offset = 0);

}  // namespace xgrad
