// Normalising layers.
#pragma once

#include <optional>

#include "module.h"

namespace xgrad::nn {

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
  using Options = LayerNormOptions;

  /// Over the last axis, of `size` elements. Throws ValueError for a size below 1 or a negative eps.
  LayerNorm(At here, std::int64_t size, const Options& options = {});
  /// Over several: `nn::LayerNorm norm{at("norm"), {3, 4}};`
  LayerNorm(At here, const Shape& sizes, const Options& options = {});
  explicit LayerNorm(Placeless, ...);  ///< does not compile: no place

  /// Throws ShapeError unless x ends in the sizes.
  Tensor operator()(const Tensor& x) const;

  const Shape sizes;
  const double eps;
  const Tensor weight;  ///< of `sizes`, at first 1; undefined unless affine
  const Tensor bias;    ///< of `sizes`, at first 0; undefined unless affine with bias

 protected:
  std::string settings() const override;
};

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< share of a new batch in the running statistics; none: all batches alike
  bool affine = true;                    ///< has weight and bias
  bool track_running_stats = true;       ///< without, the batch's own statistics are used outside of training, too
};

/// Every channel gets mean 0 and variance 1 over the batch, then is scaled and shifted (Ioffe, Szegedy 2015):
///
///     y = (x - mean) / sqrt(variance + eps) weight + bias
///
/// Outside of training, mean and variance are running ones, which every batch in training moves:
///
///     running = (1 - momentum) running + momentum batch      (of the variance the unbiased estimate)
///
/// They move last: whatever a call throws, hooks included, they are as they were.
///
/// So a result depends on the other samples of the batch in training, and on nothing but its own sample afterwards;
/// with layer norm it never depends on others. Names, buffers and values are those of PyTorch's layer. Threads: in
/// training one at a time, because it changes its buffers.
struct BatchNorm1d : Module {
  using Options = BatchNormOptions;

  /// Throws ValueError for channels below 1, a negative eps or a momentum outside [0, 1].
  BatchNorm1d(At here, std::int64_t channels, const Options& options = {});
  explicit BatchNorm1d(Placeless, ...);  ///< does not compile: no place

  /// x (B, C) or (B, C, T), of the same shape back. Throws ShapeError; ValueError in training for a single value per
  /// channel, which has no variance.
  Tensor operator()(const Tensor& x) const;

  const std::int64_t channels;
  const Options options;
  const Tensor weight;               ///< (C), at first 1; undefined unless affine
  const Tensor bias;                 ///< (C), at first 0; undefined unless affine
  const Tensor running_mean;         ///< (C), at first 0; this and the next two undefined unless tracked
  const Tensor running_var;          ///< (C), at first 1
  const Tensor num_batches_tracked;  ///< a whole number; in float it stays at 2^24

 protected:
  std::string settings() const override;

 private:
  void track(const Tensor& mean, const Tensor& unbiased_variance) const;
};

}  // namespace xgrad::nn
