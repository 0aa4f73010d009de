// Normalisation layers: layer norm, RMS norm, batch norm and group norm.
#pragma once

#include <limits>
#include <optional>

#include "../layer.h"

namespace xgrad::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< whether it has weight and bias
  bool bias = true;    ///< whether it has a bias, if affine
};

namespace detail {

/// The base class of norms over trailing axes of given sizes.
template <class Self, class OptionsOf>
struct NormLayer : Layer<Self, OptionsOf> {
  /// A norm over the last axis, which has `size` elements. Throws ValueError for a size below 1 or a negative eps.
  NormLayer(At here, std::int64_t size, const OptionsOf& given = {}) : NormLayer(std::move(here), Shape{size}, given) {}
  /// A norm over several axes: `nn::LayerNorm norm{at("norm"), {3, 4}};`. Throws the same errors.
  NormLayer(At here, const Shape& sizes, const OptionsOf& options = {});
  /// Compile error that says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit NormLayer(Module::Placeless, const Rest&...);

  const Shape sizes;
  const Tensor weight;  ///< has the shape `sizes`; initially 1; undefined unless affine

 protected:
  std::string extra_repr() const override { return sizes.rank() == 1 ? str(sizes[0]) : str(sizes); }
};

}  // namespace detail

/// Layer norm (Ba, Kiros, Hinton 2016): normalises each row, the elements along the trailing axes, to mean 0 and
/// variance 1. Then scales and shifts it element by element:
///
///     y = (x - mean) / sqrt(variance + eps) weight + bias
struct LayerNorm : detail::NormLayer<LayerNorm, LayerNormOptions> {
  using NormLayer::NormLayer;

  /// Throws ShapeError unless the last axes of x have these sizes.
  Tensor forward(const Tensor& x) const;

  /// Has the shape `sizes`; initially 0; undefined unless affine and bias.
  const Tensor bias = options.affine && options.bias ? param("bias", sizes, init::zeros(), Decay::no) : Tensor();
};

struct RMSNormOptions {
  double eps = std::numeric_limits<Real>::epsilon();  ///< Llama uses 1e-5
  bool affine = true;                                 ///< whether it has a weight
};

/// RMS norm (Zhang, Sennrich 2019): normalises each row, the elements along the trailing axes, to mean square 1. Then
/// scales it element by element:
///
///     y = x / sqrt(mean(x^2) + eps) weight
struct RMSNorm : detail::NormLayer<RMSNorm, RMSNormOptions> {
  using NormLayer::NormLayer;

  /// Throws ShapeError unless the last axes of x have these sizes.
  Tensor forward(const Tensor& x) const;
};

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  ///< weight of a new batch in running statistics; empty: mean of all batches
  bool affine = true;                    ///< whether it has weight and bias
  bool track_running_stats = true;       ///< if false, batch statistics are used in evaluation mode, too
};

/// Batch norm (Ioffe, Szegedy 2015): normalises every channel to mean 0 and variance 1 over the batch. Then scales and
/// shifts it:
///
///     y = (x - mean) / sqrt(variance + eps) weight + bias
///
/// In evaluation mode, mean and variance are running averages, which every batch in training updates:
///
///     running = (1 - momentum) running + momentum batch      (for the variance: the unbiased estimate of the batch)
///
/// The update comes last: if a call throws, also in a hook, the running averages are unchanged.
///
/// In training, a result thus depends on the other samples of the batch; in evaluation mode it does not. (With layer
/// norm it never does.) The derived classes BatchNorm1d and BatchNorm2d take different shapes. Names, buffers and
/// values are the same as in PyTorch. Threads: in training one thread at a time, because a call changes the buffers.
struct BatchNorm : Module {
  using Options = BatchNormOptions;

  /// Normalises x, whose shape the derived class determines, and returns the same shape. Throws ShapeError for another
  /// shape, and in training ValueError for a single value per channel, which has no variance.
  Tensor operator()(const Tensor& x) const;

  const int axes;  ///< number of axes after the channels: 1 or 2
  const std::int64_t channels;
  const Options options;
  const Tensor weight;               ///< (C), initially 1; undefined unless affine
  const Tensor bias;                 ///< (C), initially 0; undefined unless affine
  const Tensor running_mean;         ///< (C), initially 0; this and the next two are undefined unless tracked
  const Tensor running_var;          ///< (C), initially 1
  const Tensor num_batches_tracked;  ///< an integer; in a float build it stops at 2^24

 protected:
  /// Makes a norm for inputs with `axes` axes after the channels. Throws ValueError for channels below 1, a negative
  /// eps or a momentum outside [0, 1].
  BatchNorm(At here, int axes, std::int64_t channels, const Options& options);

  std::string class_name() const override;
  std::string extra_repr() const override { return str(channels); }

 private:
  void track(const Array& mean, const Array& variance, std::int64_t count) const;
};

/// Batch norm of vectors (B, C) and sequences (B, C, T).
struct BatchNorm1d : BatchNorm {
  using Options = BatchNormOptions;

  /// Throws ValueError for channels below 1, a negative eps or a momentum outside [0, 1].
  BatchNorm1d(At here, std::int64_t count, const Options& given = {}) : BatchNorm(std::move(here), 1, count, given) {}
  explicit BatchNorm1d(Placeless, ...);  ///< compile error: the first argument must be at("name") or root
};

/// Batch norm of images (B, C, H, W).
struct BatchNorm2d : BatchNorm {
  using Options = BatchNormOptions;

  /// Throws the same errors as BatchNorm1d.
  BatchNorm2d(At here, std::int64_t count, const Options& given = {}) : BatchNorm(std::move(here), 2, count, given) {}
  explicit BatchNorm2d(Placeless, ...);  ///< compile error: the first argument must be at("name") or root
};

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;  ///< whether it has weight and bias
};

/// Group norm (Wu, He 2018): divides the channels of each sample into groups. Normalises every group to mean 0 and
/// variance 1 over its channels and all positions, then scales and shifts every channel. With one group it is layer
/// norm over the whole sample, with one group for each channel instance norm.
///
///     y = (x - mean) / sqrt(variance + eps) weight + bias
struct GroupNorm : Layer<GroupNorm, GroupNormOptions> {
  /// Throws ValueError for groups or channels below 1, channels that are not a multiple of the groups, or a negative
  /// eps.
  GroupNorm(At here, std::int64_t groups, std::int64_t channels, const Options& options = {});
  explicit GroupNorm(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

  /// x (B, C, ...) -> (B, C, ...). Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const std::int64_t groups;
  const std::int64_t channels;
  const Tensor weight;  ///< (C), initially 1; undefined unless affine
  const Tensor bias;    ///< (C), initially 0; undefined unless affine

 protected:
  std::string extra_repr() const override { return str(groups, " groups, ", channels); }
};

}  // namespace xgrad::nn
