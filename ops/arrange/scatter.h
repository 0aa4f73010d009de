// Reducing the numbers written to one position. (index_add, scatter and scatter_add are in index.h.)
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

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

}  // namespace xgrad
