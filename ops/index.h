// Choosing elements by their numbers (Index) and by conditions (Mask). Bad indices are refused with their
// value and the range: `embedding: index 10 not in [0, 10)`.
#pragma once

#include <optional>

#include "../core/tensor.h"

namespace xgrad {

struct EmbeddingFuncOptions {
  std::optional<std::int64_t> padding_idx = {};  ///< this row gets no gradient; from the end if negative
};
/// Row ids[i] of the table `weight` (V, C) for every i: ids.shape + (C).
/// Throws ShapeError unless the table has two axes, ValueError for an id outside [0, V) or a padding_idx outside [-V,
/// V).
Tensor embedding(const Tensor& weight, const Index& ids, const EmbeddingFuncOptions& options = {});

/// The positions of `axis` that the list `index` names, in its order. Throws ValueError for an index outside [0, size),
/// ShapeError unless the list has one axis.
Tensor index_select(const Tensor& x, int axis, const Index& index);
Index index_select(const Index& x, int axis, const Index& index);
Mask index_select(const Mask& x, int axis, const Index& index);

/// y_ijk = x_(index_ijk)jk for axis 0, and so on: of the shape of `index`, which has x's rank and is nowhere larger
/// than x but along `axis`. Throws ShapeError, and ValueError for an index outside [0, size).
Tensor gather(const Tensor& x, int axis, const Index& index);
/// The dual of gather: x with src_ijk added at (index_ijk)jk. Equal indices add up, always in the same order.
/// Throws as gather, and ShapeError unless src and index have one shape.
Tensor scatter_add(const Tensor& x, int axis, const Index& index, const Tensor& src);

/// index.shape + (classes): 1 at the index, 0 elsewhere. Throws ValueError for an index outside [0, classes) or a
/// negative number of classes.
Array one_hot(const Index& index, std::int64_t classes);

/// x, but `value` where the mask, repeated to x's shape, is true; no gradient flows there. Throws ShapeError.
Tensor masked_fill(const Tensor& x, const Mask& mask, Real value);
/// The elements of x where the mask, repeated to x's shape, is true, as a list. Throws ShapeError.
Tensor masked_select(const Tensor& x, const Mask& mask);
/// The positions of the true elements, counted through all of the mask in row-major order.
Index flatnonzero(const Mask& mask);

}  // namespace xgrad
