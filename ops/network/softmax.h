// Softmax, log-softmax and masked softmax.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// y_i = e^(x_i) / sum_j e^(x_j) along `axis`, without overflow.      dL/dx_i = y_i (gy_i - sum_j gy_j y_j)
/// A row of -inf gives zeros, an entry of +inf gives a row of NaN. A scalar gives 1. Throws ValueError for an axis out
/// of range.
Tensor softmax(const Tensor& x, int axis = -1);

/// y_i = x_i - ln sum_j e^(x_j) along `axis`, without overflow.      dL/dx_i = gy_i - e^(y_i) sum_j gy_j
/// A row of -inf stays -inf, an entry of +inf gives a row of NaN. A scalar gives 0. Throws ValueError for an axis out
/// of range.
Tensor log_softmax(const Tensor& x, int axis = -1);

/// The softmax over the first entries of each row along the last axis. Lengths (B) give one length for each sequence of
/// x (B, ..., S), lengths (B, T) one for each row of x (B, ..., T, S). Later entries and their gradients are exactly 0,
/// whatever x contains there. A length of 0 gives a row of zeros.
/// Throws ShapeError when shapes do not fit, ValueError for a length outside [0, S].
Tensor masked_softmax(const Tensor& x, const Index& lengths);

/// The softmax along the last axis over the entries where `masked` (broadcast to x) is false. Masked entries are
/// exactly 0. A row with only masked entries is 0 and has gradient 0. Throws ShapeError if the mask does not fit.
Tensor masked_softmax(const Tensor& x, const Mask& masked);

/// Unfused forms, which run under Plain.
namespace plain {
/// e / sum e with e = e^(x - max x)
Tensor softmax(const Tensor& x, int axis = -1);
/// v - ln sum e^v with v = x - max x
Tensor log_softmax(const Tensor& x, int axis = -1);
/// softmax(x), where masked entries of x are replaced by -inf
Tensor masked_softmax(const Tensor& x, const Mask& masked);
Tensor masked_softmax(const Tensor& x, const Index& lengths);
}  // namespace plain

}  // namespace xgrad
