// Normalising along axes: softmax and its kin, layer norm, dropout.
#pragma once

#include "../core/random.h"
#include "../core/tensor.h"

namespace xgrad {

/// y_i = e^(x_i) / sum_j e^(x_j) along `axis`, without overflow.      dL/dx_i = y_i (gy_i - sum_j gy_j y_j)
/// All -inf gives all 0; entries of +inf share the whole. Of a scalar: 1. Throws ValueError for an axis out of range.
Tensor softmax(const Tensor& x, int axis = -1);

/// y_i = x_i - ln sum_j e^(x_j) along `axis`, without overflow.      dL/dx_i = gy_i - e^(y_i) sum_j gy_j
/// All -inf stays so; entries of +inf share the whole. Of a scalar: 0. Throws ValueError for an axis out of range.
Tensor log_softmax(const Tensor& x, int axis = -1);

/// The softmax along the last axis over the first entries only: x (B, ..., S) has a length for each sequence, lengths
/// (B), or x (B, ..., T, S) one for each row, lengths (B, T). Entries past the length are exactly 0 whatever x holds
/// there, and so are their gradients; a length of 0 gives a row of zeros.
/// Throws ShapeError when shapes do not fit, ValueError for a length outside [0, S].
Tensor masked_softmax(const Tensor& x, const Index& lengths);

struct LayerNormOptions {
  Real eps = Real(1e-5);  ///< added to the variance
  Shape normalized = {};  ///< the trailing sizes to normalise over; if not said, gamma's or beta's, else the last axis
};

/// y = (x - mean) / sqrt(variance + eps) gamma + beta over the trailing axes, as many as gamma has (Ba et al. 2016).
/// gamma and beta may be undefined. A constant row gives beta. As one operation, accurate also where the mean is large
/// against the spread. Throws ShapeError when x does not end in the normalised sizes or these hold no element,
/// ValueError for a negative eps.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                  const LayerNormOptions& options = {});

/// Every element is zeroed with probability p, the others are divided by 1 - p, so that the mean stays. Which ones is a
/// function of the key and the element's position alone; p = 1 gives zeros.      dy/dx = 1/(1 - p) or 0
/// Throws ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, const RandomKey& key);
/// The same with the generator's next key. (p = 0 takes one, too.)
Tensor dropout(const Tensor& x, double p);

}  // namespace xgrad
