// Writing parts of a tensor by their numbers, and reducing what is written to one place. (index_add, scatter and
// scatter_add stand in index.h, slice_scatter in slice.h.)
#pragma once

#include <vector>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// x with src_j in place of position index_j of `axis`, for every j; of equal indices the last one counts. Throws as
/// index_add.      dL/dx = gy, 0 where written      dL/dsrc_j = gy_(index_j), 0 for what was written over
Tensor index_copy(const Tensor& x, int axis, const Index& index, const Tensor& src);

struct IndexPutOptions {
  bool accumulate = false;  ///< add to what is there, and for equal indices; else the last one is written
};
/// x with `values` at x[indices[0], indices[1], ...]: the indices broadcast to one shape and count along the first
/// axes, from the end if negative; values broadcast to that shape followed by the other axes. Throws ShapeError,
/// ValueError for no index, more than axes, or one outside its axis.      dL/dx, dL/dvalues as index_copy's,
/// index_add's
Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& values,
                 const IndexPutOptions& options = {});
/// The same with places counted through all of x, from the end if negative; src has the shape of the index. Throws
/// ShapeError, ValueError for an index outside [-size, size).
Tensor put(const Tensor& x, const Index& index, const Tensor& src, const IndexPutOptions& options = {});
/// x with the elements of src, one after the other, where the mask, repeated to x's shape, is true. Throws ShapeError,
/// also for fewer elements than places.
Tensor masked_scatter(const Tensor& x, const Mask& mask, const Tensor& src);

/// What becomes of several numbers for one place.
enum class ScatterReduce {
  sum,
  prod,
  mean,
  amax,  ///< the largest; equal ones share the gradient evenly
  amin   ///< the smallest, likewise
};
struct ScatterReduceOptions {
  bool include_self = true;  ///< x's own number is one of them; else it stays only where nothing is written
};
/// x with (src_i, for all i whose index_i names the place) reduced to one number for each place that is named, along
/// `axis`: PyTorch's scatter_reduce. Throws as scatter_add.
///   sum, mean: dL/dsrc_i = gy_(index_i), over the count      prod: times the product of the others, also where some
///   are 0
Tensor scatter_reduce(const Tensor& x, int axis, const Index& index, const Tensor& src, ScatterReduce reduce,
                      const ScatterReduceOptions& options = {});
/// The same for whole positions of `axis`: src_j for position index_j. Throws as index_add.
Tensor index_reduce(const Tensor& x, int axis, const Index& index, const Tensor& src, ScatterReduce reduce,
                    const ScatterReduceOptions& options = {});

}  // namespace xgrad
