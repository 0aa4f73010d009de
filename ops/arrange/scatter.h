// Writing elements of a tensor by index, and reducing the numbers written to one position. (index_add, scatter and
// scatter_add are in index.h, slice_scatter in slice.h.)
#pragma once

#include <vector>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// x with src_j in place of position index_j of `axis`, for every j; of equal indices the last one wins. Throws as
/// index_add.      dL/dx = gy, 0 where written      dL/dsrc_j = gy_(index_j), 0 if overwritten
Tensor index_copy(const Tensor& x, int axis, const Index& index, const Tensor& src);

struct IndexPutOptions {
  bool accumulate = false;  ///< add to x, also for equal indices; else the last value is written
};
/// x with `values` at x[indices[0], indices[1], ...]: the indices broadcast to one shape and count along the first
/// axes, from the end if negative; values broadcast to that shape followed by the other axes. Throws ShapeError,
/// ValueError for no index, more than axes, or one outside its axis.      dL/dx, dL/dvalues as in index_copy,
/// with accumulate as in index_add
Tensor index_put(const Tensor& x, const std::vector<Index>& indices, const Tensor& values,
                 const IndexPutOptions& options = {});
/// The same with positions in x as a flat list, from the end if negative; src has the shape of the index. Throws
/// ShapeError, ValueError for an index outside [-size, size).
Tensor put(const Tensor& x, const Index& index, const Tensor& src, const IndexPutOptions& options = {});
/// x with the elements of src, one after the other, where the mask, broadcast to x's shape, is true. Throws ShapeError,
/// also if src has too few elements.
Tensor masked_scatter(const Tensor& x, const Mask& mask, const Tensor& src);

/// The reduction of several numbers written to one position.
enum class ScatterReduce {
  sum,
  prod,
  mean,
  amax,  ///< the largest; equal ones share the gradient evenly
  amin   ///< the smallest, likewise
};
struct ScatterReduceOptions {
  bool include_self = true;  ///< x's own number takes part; else it stays only where nothing is written
};
/// x with all src_i of equal index_i along `axis` reduced to one number at that position: PyTorch's scatter_reduce.
/// Throws as scatter_add.
///   sum, mean: dL/dsrc_i = gy_(index_i), over the count      prod: times the product of the others, also where some
///   are 0
Tensor scatter_reduce(const Tensor& x, int axis, const Index& index, const Tensor& src, ScatterReduce reduce,
                      const ScatterReduceOptions& options = {});
/// The same for whole positions of `axis`: src_j for position index_j. Throws as index_add.
Tensor index_reduce(const Tensor& x, int axis, const Index& index, const Tensor& src, ScatterReduce reduce,
                    const ScatterReduceOptions& options = {});

}  // namespace xgrad
