// Normalising layers.
#pragma once

#include <limits>
#include <optional>

#include "../layer.h"

namespace xgrad::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< has weight and bias
  bool bias = true;    ///< has a bias besides the weight
};

namespace detail {

/// The base of norms of rows, over trailing axes of given sizes.
template <class Self, class OptionsOf>
struct NormLayer : LayerCall<Self> {
  using Options = OptionsOf;

  /// Over the last axis, of `size` elements. Throws ValueError for a size below 1 or a negative eps.
  NormLayer(At here, std::int64_t size, const Options& given = {}) : NormLayer(std::move(here), Shape{size}, given) {}
  /// Over several: `nn::LayerNorm norm{at("norm"), {3, 4}};`
  NormLayer(At here, const Shape& sizes, const Options& options = {});
  /// Says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit NormLayer(Module::Placeless, const Rest&...);

  const Options options;
  const Shape sizes;
  const Tensor weight;  ///< of `sizes`, at first 1; undefined unless affine

 protected:
  std::string extra_repr() const override { return sizes.rank() == 1 ? str(sizes[0]) : str(sizes); }
};

}  // namespace detail

/// Every row, over the trailing axes of the given sizes, gets mean 0 and variance 1, then is scaled and shifted element
/// by element (Ba, Kiros, Hinton 2016):
///
///     y = (x - mean) / sqrt(variance + eps) weight + bias
struct LayerNorm : detail::NormLayer<LayerNorm, LayerNormOptions> {
  using NormLayer::NormLayer;

  /// Throws ShapeError unless x ends in the sizes.
  Tensor forward(const Tensor& x) const;

  /// Of `sizes`, at first 0; undefined unless affine with bias.
  const Tensor bias = options.affine && options.bias ? param("bias", sizes, init::zeros(), Decay::no) : Tensor();
};

struct RMSNormOptions {
  double eps = std::numeric_limits<Real>::epsilon();  ///< Llama has 1e-5
  bool affine = true;                                 ///< has a weight
};

/// Every row, over the trailing axes of the given sizes, gets mean square 1, then is scaled element by element (Zhang,
/// Sennrich 2019):
///
///     y = x / sqrt(mean(x^2) + eps) weight
struct RMSNorm : detail::NormLayer<RMSNorm, RMSNormOptions> {
  using NormLayer::NormLayer;

  /// Throws ShapeError unless x ends in the sizes.
  Tensor forward(const Tensor& x) const;
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
/// They move last: if a call throws, also in a hook, they are unchanged.
///
/// So a result depends on the other samples of the batch in training, and on nothing but its own sample afterwards;
/// with layer norm it never depends on others. Names, buffers and values are those of PyTorch's layers, which are the
/// classes below: they differ in the shapes that they take. Threads: in training one at a time, because it changes its
/// buffers.
struct BatchNorm : Module {
  using Options = BatchNormOptions;

  /// x as the class below says, of the same shape back. Throws ShapeError for another; ValueError in training for a
  /// single value per channel, which has no variance.
  Tensor operator()(const Tensor& x) const;

  const int axes;  ///< after the channels: 1 or 2, as the class below says
  const std::int64_t channels;
  const Options options;
  const Tensor weight;               ///< (C), at first 1; undefined unless affine
  const Tensor bias;                 ///< (C), at first 0; undefined unless affine
  const Tensor running_mean;         ///< (C), at first 0; this and the next two undefined unless tracked
  const Tensor running_var;          ///< (C), at first 1
  const Tensor num_batches_tracked;  ///< an integer; in float it stays at 2^24

 protected:
  /// For inputs with `axes` axes after the channels. Throws ValueError for channels below 1, a negative eps or a
  /// momentum outside [0, 1].
  BatchNorm(At here, int axes, std::int64_t channels, const Options& options);

  std::string class_name() const override;
  std::string extra_repr() const override;

 private:
  void track(const Array& mean, const Array& variance, std::int64_t count) const;
};

/// Batch norm of vectors and sequences.
struct BatchNorm1d : BatchNorm {
  using Options = BatchNormOptions;

  /// Throws ValueError for channels below 1, a negative eps or a momentum outside [0, 1]. x is (B, C) or (B, C, T).
  BatchNorm1d(At here, std::int64_t count, const Options& given = {}) : BatchNorm(std::move(here), 1, count, given) {}
  explicit BatchNorm1d(Placeless, ...);  ///< does not compile: no place
};

/// Batch norm of pictures.
struct BatchNorm2d : BatchNorm {
  using Options = BatchNormOptions;

  /// Throws as BatchNorm1d. x is (B, C, H, W).
  BatchNorm2d(At here, std::int64_t count, const Options& given = {}) : BatchNorm(std::move(here), 2, count, given) {}
  explicit BatchNorm2d(Placeless, ...);  ///< does not compile: no place
};

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< has weight and bias
};

/// The channels of each sample in groups; every group gets mean 0 and variance 1 over its channels and all positions,
/// then every channel is scaled and shifted (Wu, He 2018). With one group it is layer norm over a whole sample, with as
/// many groups as channels instance norm.
///
///     y = (x - mean) / sqrt(variance + eps) weight + bias
struct GroupNorm : Layer<GroupNorm> {
  using Options = GroupNormOptions;

  /// Throws ValueError for groups or channels below 1, channels that do not divide by the groups, or a negative eps.
  GroupNorm(At here, std::int64_t groups, std::int64_t channels, const Options& options = {});
  explicit GroupNorm(Placeless, ...);  ///< does not compile: no place

  /// x (B, C, ...), of the same shape back. Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const std::int64_t groups;
  const std::int64_t channels;
  const Options options;
  const Tensor weight;  ///< (C), at first 1; undefined unless affine
  const Tensor bias;    ///< (C), at first 0; undefined unless affine

 protected:
  std::string extra_repr() const override;
};

}  // namespace xgrad::nn
