// Layer norm and RMS norm.
#pragma once

#include <limits>

#include "../../core/graph/tensor.h"

namespace xgrad {

struct LayerNormFuncOptions {
  double eps = 1e-5;      ///< added to the variance
  Shape normalized = {};  ///< the trailing sizes to normalise over; by default those of gamma or beta, else the last
};

/// y = (x - mean) / sqrt(variance + eps) gamma + beta over as many trailing axes as gamma has (Ba et al. 2016). gamma
/// and beta may be undefined. A constant row gives beta. The result is accurate even if the mean is large compared with
/// the standard deviation. Throws ShapeError unless the shape of x ends in the normalised sizes, or if these contain no
/// element; ValueError for a negative eps.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                  const LayerNormFuncOptions& options = {});

struct RmsNormFuncOptions {
  double eps = std::numeric_limits<Real>::epsilon();  ///< added to the mean square
  Shape normalized = {};  ///< the trailing sizes to normalise over; by default those of gamma, else the last
};

/// y = x / sqrt(mean(x^2) + eps) gamma over as many trailing axes as gamma has (Zhang, Sennrich 2019): layer norm
/// without the mean. gamma may be undefined. Throws as layer_norm.
Tensor rms_norm(const Tensor& x, const Tensor& gamma = {}, const RmsNormFuncOptions& options = {});

/// Both norms unfused; they run under Plain.
namespace plain {
/// d / sqrt(mean(d^2) + eps) gamma + beta with d = x - mean(x)
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                  const LayerNormFuncOptions& options = {});
/// x / sqrt(mean(x^2) + eps) gamma
Tensor rms_norm(const Tensor& x, const Tensor& gamma = {}, const RmsNormFuncOptions& options = {});
}  // namespace plain

namespace detail {
/// (x - mean) / sqrt(variance + eps) over these axes, in operations.
Tensor standardized(const Tensor& x, const Axes& axes, Real eps);
/// Throws ShapeError unless gamma and beta, where given, are of this shape.
void check_affine(const char* op, const Tensor& gamma, const Tensor& beta, const Shape& shape);
}  // namespace detail

}  // namespace xgrad
