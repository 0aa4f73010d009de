// Batch norm.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

struct BatchNormFuncOptions {
  double eps = 1e-5;  ///< added to the variance
};

/// The result of batch_norm, and the statistics of its batch.
struct [[nodiscard]] BatchNormed {
  Tensor y;
  Array mean;      ///< (C): the mean of this batch
  Array variance;  ///< (C): the biased variance, the mean of (x - mean)^2
};

/// y = (x - mean) / sqrt(variance + eps) gamma + beta for each channel, over all axes but axis 1 (Ioffe, Szegedy 2015).
/// x (B, C, ...), gamma and beta (C) or undefined. A constant channel gives beta. The result is accurate even if the
/// mean is large compared with the standard deviation. Throws ShapeError when x has fewer than two axes, channels have
/// no element, or gamma or beta do not fit; ValueError for a negative eps.
BatchNormed batch_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                       const BatchNormFuncOptions& options = {});

namespace plain {
/// Unfused batch norm, which runs under Plain.
BatchNormed batch_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                       const BatchNormFuncOptions& options = {});
}  // namespace plain

}  // namespace xgrad
