// Normalising layers.
#pragma once

#include <xgrad/nn/module.h>

namespace xgrad::inline XGRAD_ABI::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< has weight and bias
  bool bias = true;    ///< has a bias besides the weight
};

/// Every row, over the trailing axes of the given sizes, gets mean 0 and variance 1, then is scaled and shifted element
/// by element (Ba, Kiros, Hinton 2016):
///
///     y = (x - mean) / sqrt(variance + eps) weight + bias
struct LayerNorm : Module {
  /// Over the last axis, of `size` elements. Throws ValueError for a size below 1 or a negative eps.
  LayerNorm(At here, std::int64_t size, const LayerNormOptions& options = {});
  /// Over several: `nn::LayerNorm norm{at("norm"), {3, 4}};`
  LayerNorm(At here, const Shape& sizes, const LayerNormOptions& options = {});

  /// Throws ShapeError unless x ends in the sizes.
  Tensor operator()(const Tensor& x) const;

  const Shape sizes;
  const double eps;
  const Tensor weight;  ///< of `sizes`, at first 1; undefined unless affine
  const Tensor bias;    ///< of `sizes`, at first 0; undefined unless affine with bias

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::inline XGRAD_ABI::nn
