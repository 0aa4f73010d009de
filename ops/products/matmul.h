// Products of matrices and of vectors.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Options to transpose a factor (exchange its last two axes) without a copy.
struct MatmulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};

/// The matrix product over the last two axes; leading axes broadcast.      (..., M, K) @ (..., K, N) -> (..., M, N)
///   y = a b      dL/da = gy b^T      dL/db = a^T gy      (^T: transposed; summed over axes that were broadcast)
/// A vector a counts as a row, a vector b as a column; the result does not have that axis. The order of summation
/// depends only on the sizes. Throws ShapeError when the inner sizes differ, leading axes do not broadcast, a factor
/// has no axis, or a vector would be transposed.
Tensor matmul(const Tensor& a, const Tensor& b, const MatmulOptions& options = {});

/// An affine map of the last axis, as one operation.      x (..., in), weight (out, in), bias (out) -> (..., out)
///   y = x weight^T + bias      dL/dx = gy weight      dL/dweight = gy^T x      dL/dbias = gy summed over all but the
///   last axis
/// An undefined bias is left out. Throws ShapeError when the shapes do not fit.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

namespace plain {
/// Unfused linear: matmul and a sum.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
}  // namespace plain

/// The inner product y = sum_i a_i b_i of two vectors. Throws ShapeError unless both have one axis and the same size.
Tensor dot(const Tensor& a, const Tensor& b);
/// The outer product y_ij = a_i b_j of two vectors. Throws ShapeError unless both have one axis.
Tensor outer(const Tensor& a, const Tensor& b);

}  // namespace xgrad
