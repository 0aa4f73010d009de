// Choosing elements by index (Index) and by condition (Mask). An index is a position on an axis; negative indices count
// from the end, as in x[ids]. An id (embedding, one_hot, the classes of losses) names something and is never negative,
// because -1 often marks missing data. Errors show the index and range: `embedding: index 10 is not in [0, 10)`.
#pragma once

#include <initializer_list>
#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

struct EmbeddingFuncOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< the row that gets no gradient; negative: counted from the end
};
/// Looks up row ids[i] of the table `weight` (V, C) for every i. The result has the shape ids.shape + (C).
/// Throws ShapeError unless the table has two axes, ValueError for an id outside [0, V), a padding_idx outside [-V, V).
Tensor embedding(const Tensor& weight, const Index& ids, const EmbeddingFuncOptions& options = {});

/// The parts of x at the positions of `axis` that the list `index` contains, in the order of the list. Throws
/// ValueError for an index outside [-size, size), ShapeError unless the list has one axis.
Tensor index_select(const Tensor& x, int axis, const Index& index);
Index index_select(const Index& x, int axis, const Index& index);
Mask index_select(const Mask& x, int axis, const Index& index);
/// The dual of index_select: x with src_j added at position index_j of `axis`, for every j. Equal indices add up,
/// always in the same order. Throws as index_select, and ShapeError unless src has x's shape with index.size() along
/// the axis.
///   dL/dx = gy      dL/dsrc_j = gy_(index_j)
Tensor index_add(const Tensor& x, int axis, const Index& index, const Tensor& src);

/// Repeats position i along `axis` counts[i] times in a row. Throws ShapeError unless the counts are a list as long as
/// the axis, ValueError for a negative count.
Tensor repeat_interleave(const Tensor& x, const Index& counts, int axis);

/// y_ijk = x_(index_ijk)jk for axis 0, and likewise for other axes. y has the shape of `index`, which has x's rank and,
/// except along `axis`, sizes no larger than x's. Throws ShapeError, or ValueError for an index outside [-size, size).
Tensor gather(const Tensor& x, int axis, const Index& index);
/// The dual of gather: x with src_ijk added at (index_ijk)jk. Equal indices add up, always in the same order.
/// Throws as gather, and ShapeError unless src and index have one shape.
Tensor scatter_add(const Tensor& x, int axis, const Index& index, const Tensor& src);
/// x with src_ijk written at position (index_ijk, j, k), for axis 0. Of equal indices the last one along the axis wins,
/// and only it gets a gradient. (In PyTorch any of them wins, and all get a gradient.) Throws as scatter_add.
///   dL/dx = gy, 0 where written      dL/dsrc_i = gy_(index_i), 0 if overwritten
Tensor scatter(const Tensor& x, int axis, const Index& index, const Tensor& src);
/// x with `value` written at every (index_ijk)jk. Throws as gather.
Tensor scatter(const Tensor& x, int axis, const Index& index, Real value);
/// As gather, but x and the index broadcast along the other axes. Takes the indices of argsort, or of argmax with
/// keepdim. Throws ShapeError unless the ranks are equal and the shapes broadcast, ValueError for an index outside
/// [-size, size).
Tensor take_along_dim(const Tensor& x, const Index& index, int axis);
/// The elements of the flattened x (in row-major order) at these indices.
Tensor take_along_dim(const Tensor& x, const Index& index);

struct IndexPutOptions {
  bool accumulate = false;  ///< adds the values to x; values of equal indices add up
};
/// x with `values` written at x[{indices...}], as numpy's x[indices...] = values. index_put(x, {i, j}, values) has one
/// index for each of x's first axes (Tensor::operator[]). The values are broadcast to the shape of that part. Of equal
/// indices the last one wins, and only it gets a gradient. Throws ShapeError when the values do not fit, and as
/// Tensor::operator[].      dL/dx = gy, 0 where written      dL/dvalues = gy[{indices...}], 0 if overwritten
Tensor index_put(const Tensor& x, std::initializer_list<Index> indices, const Tensor& values,
                 const IndexPutOptions& options = {});

/// One-hot vectors, of shape index.shape + (classes): 1 at the index, 0 elsewhere. Throws ValueError for an index
/// outside [0, classes) or a negative number of classes.
Array one_hot(const Index& index, std::int64_t classes);

/// x with `value` where the mask is true; no gradient flows there. Throws ShapeError unless the mask broadcasts to x's
/// shape.
Tensor masked_fill(const Tensor& x, const Mask& mask, Real value);
/// The list of the elements of x where the mask is true. Throws ShapeError unless the mask broadcasts to x's shape.
Tensor masked_select(const Tensor& x, const Mask& mask);
/// The positions of the true elements in the flattened mask, in row-major order.
Index flatnonzero(const Mask& mask);
/// The positions of the elements that are true or not 0 (NaN is not 0), in row-major order: an Index (count, rank),
/// with one row for each position. For a scalar its shape is (1, 0) or (0, 0).
Index nonzero(const Tensor& x);
Index nonzero(const Index& x);
Index nonzero(const Mask& mask);

}  // namespace xgrad
