// Covariances and correlations.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

struct CovOptions {
  double correction = 1;               ///< 1: unbiased estimate from a sample; 0: of the numbers themselves
  std::optional<Index> fweights = {};  ///< (n): how many times each observation was made; 1 if not given
  Tensor aweights = {};                ///< (n): the weight of each observation; undefined: 1
};
/// The covariances of m variables observed n times: x (m, n) -> (m, m), of one variable (n), (1, n) or () a number.
///
///     C_ij = sum_k w_k (x_ik - mean_i) (x_jk - mean_j) / d,      mean_i = sum_k w_k x_ik / W
///
/// with w = fweights aweights, W = sum_k w_k and d = W - correction, or with aweights W - correction sum_k w_k
/// aweights_k / W. Gradients flow to x and to aweights. Throws ShapeError for an x of more than two axes or weights
/// that are not a list with one for each observation, ValueError for a negative weight, weights whose sum is 0 or not
/// finite, and unless d > 0 (PyTorch: infinities).
Tensor cov(const Tensor& x, const CovOptions& options = {});

/// The correlations of m variables observed n times, R_ij = C_ij / sqrt(C_ii C_jj) within [-1, 1], C = cov(x):
/// x (m, n) -> (m, m), of one variable (n), (1, n) or () a number. Throws as cov, and ValueError for a variable that
/// does not vary (PyTorch: NaN).
Tensor corrcoef(const Tensor& x);

}  // namespace xgrad
