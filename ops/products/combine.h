// Several tensors, or one with itself, in all combinations: products of matrices and vectors, lists of pairs, powers.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The Kronecker product: y_(i p + k)(j q + l) = a_ij b_kl for b (p, q), and likewise for any number of axes; the one
/// with fewer gets leading ones of size 1. Throws LimitError for more than four axes.
Tensor kron(const Tensor& a, const Tensor& b);

/// The cross product of vectors of three along `axis`: y_0 = a_1 b_2 - a_2 b_1 and so on; the shapes broadcast. Throws
/// ShapeError, ValueError for an axis out of range. (PyTorch's torch.linalg.cross.)
Tensor cross(const Tensor& a, const Tensor& b, int axis = -1);

struct VanderOptions {
  std::optional<std::int64_t> n = {};  ///< columns; as many as x has elements if not given
  bool increasing = false;             ///< powers 0, 1, ..., n - 1; else descending
};
/// Powers of each element: y_ij = x_i^(n - 1 - j).      (..., m) -> (..., m, n)
/// Throws ShapeError for a scalar, ValueError for a negative n.
Tensor vander(const Tensor& x, const VanderOptions& options = {});

/// All combinations of one element of each list, the last list fastest: a row for each. Of one list, that list. Throws
/// ShapeError for a tensor that has not one axis, ValueError for none.
Tensor cartesian_prod(const Tensors& lists);

struct CombinationsOptions {
  std::int64_t r = 2;             ///< elements in each
  bool with_replacement = false;  ///< an element may occur several times
};
/// All combinations of r elements of a list, in its order: a row for each. Throws ShapeError unless x has one axis,
/// ValueError for an r outside [0, 2^20], LimitError, before any work, where memory is too small for all.
Tensor combinations(const Tensor& x, const CombinationsOptions& options = {});

}  // namespace xgrad
