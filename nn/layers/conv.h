// Convolutional layers, with PyTorch's parameters and names.
#pragma once

#include "../../ops/layers/conv.h"
#include "../layer.h"

namespace xgrad::nn {

namespace detail {

/// The base of the convolutions. Every result is a sum over the channels of a group, `in` or, transposed, `out`.
template <class Self, class OptionsOf, class Kernel, bool transposed>
struct ConvLayer : LayerCall<Self> {
  using Options = OptionsOf;

  /// Throws ValueError for sizes below 1 and groups that do not divide the channels.
  ConvLayer(At here, std::int64_t in, std::int64_t out, const Kernel& kernel, const Options& options = {});
  /// Says what is missing: see Module::Placeless.
  template <class... Rest>
  explicit ConvLayer(Module::Placeless, const Rest&...);

  const std::int64_t in, out;
  const Kernel kernel;
  const Options options;
  const Tensor weight;  ///< (out, in / groups, kernel ...), transposed (in, out / groups, kernel ...)
  const Tensor bias;    ///< (out); undefined without bias

 protected:
  std::string settings() const override;
};

}  // namespace detail

struct Conv1dOptions {
  std::int64_t stride = 1;
  Padding1d padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Init init = {};       ///< of the weight; if not given, uniform in +-1/sqrt(in / groups kernel)
  Init bias_init = {};  ///< likewise
};

/// y = conv1d(x, weight, bias)      x (B, in, T) or (in, T) -> (B, out, T')
struct Conv1d : detail::ConvLayer<Conv1d, Conv1dOptions, std::int64_t, false> {
  using ConvLayer::ConvLayer;

  /// Throws as conv1d.
  Tensor forward(const Tensor& x) const;
};

struct Conv2dOptions {
  Size2d stride = 1;
  Padding2d padding = 0;
  Size2d dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Init init = {};       ///< of the weight; if not given, uniform in +-1/sqrt(in / groups kh kw)
  Init bias_init = {};  ///< likewise
};

/// y = conv2d(x, weight, bias)      x (B, in, H, W) or (in, H, W) -> (B, out, H', W')
struct Conv2d : detail::ConvLayer<Conv2d, Conv2dOptions, Size2d, false> {
  using ConvLayer::ConvLayer;

  /// Throws as conv2d.
  Tensor forward(const Tensor& x) const;
};

struct ConvTranspose1dOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t output_padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Init init = {};       ///< of the weight; if not given, uniform in +-1/sqrt(out / groups kernel)
  Init bias_init = {};  ///< likewise
};

/// y = conv_transpose1d(x, weight, bias)      x (B, in, T) or (in, T) -> (B, out, T')
struct ConvTranspose1d : detail::ConvLayer<ConvTranspose1d, ConvTranspose1dOptions, std::int64_t, true> {
  using ConvLayer::ConvLayer;

  /// Throws as conv_transpose1d.
  Tensor forward(const Tensor& x) const;
};

struct ConvTranspose2dOptions {
  Size2d stride = 1;
  Size2d padding = 0;
  Size2d output_padding = 0;
  Size2d dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Init init = {};       ///< of the weight; if not given, uniform in +-1/sqrt(out / groups kh kw)
  Init bias_init = {};  ///< likewise
};

/// y = conv_transpose2d(x, weight, bias)      x (B, in, H, W) or (in, H, W) -> (B, out, H', W')
struct ConvTranspose2d : detail::ConvLayer<ConvTranspose2d, ConvTranspose2dOptions, Size2d, true> {
  using ConvLayer::ConvLayer;

  /// Throws as conv_transpose2d.
  Tensor forward(const Tensor& x) const;
};

}  // namespace xgrad::nn
