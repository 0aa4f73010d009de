// Layer norm.
#pragma once

#include "../core/tensor.h"

namespace xgrad {

struct LayerNormFuncOptions {
  Real eps = Real(1e-5);  ///< added to the variance
  Shape normalized = {};  ///< the trailing sizes to normalise over; if not said, gamma's or beta's, else the last axis
};

/// y = (x - mean) / sqrt(variance + eps) gamma + beta over the trailing axes, as many as gamma has (Ba et al. 2016).
/// gamma and beta may be undefined. A constant row gives beta. As one operation, accurate also where the mean is large
/// against the spread. Throws ShapeError when x does not end in the normalised sizes or these hold no element,
/// ValueError for a negative eps.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {},
                  const LayerNormFuncOptions& options = {});

namespace detail {
/// What `standardized` multiplies each part of x with, so that its squares stay in range; mostly 1. Of shape `kept`,
/// with the statistics of each part, as the kernels keep them.
Array range_factors(const Array& statistics, const Shape& kept);
/// (x - mean) / sqrt(variance + eps) in operations, over the axes where `factors` has size 1.
Tensor standardized(const Tensor& x, const Array& factors, Real eps);
}  // namespace detail

}  // namespace xgrad
