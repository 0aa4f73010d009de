// Convolutional layers, with PyTorch's parameters and names.
#pragma once

#include "../../ops/layers/conv.h"
#include "../layer.h"

namespace xgrad::nn {

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
struct Conv1d : Layer<Conv1d> {
  using Options = Conv1dOptions;

  /// Throws ValueError for sizes below 1 and groups that do not divide the channels.
  Conv1d(At here, std::int64_t in, std::int64_t out, std::int64_t kernel, const Options& options = {});
  explicit Conv1d(Placeless, ...);  ///< does not compile: no place

  /// Throws as conv1d.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in, out, kernel;
  const Options options;
  const Tensor weight;  ///< (out, in / groups, kernel)
  const Tensor bias;    ///< (out); undefined without bias

 protected:
  std::string settings() const override;
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
struct Conv2d : Layer<Conv2d> {
  using Options = Conv2dOptions;

  /// Throws ValueError for sizes below 1 and groups that do not divide the channels.
  Conv2d(At here, std::int64_t in, std::int64_t out, const Size2d& kernel, const Options& options = {});
  explicit Conv2d(Placeless, ...);  ///< does not compile: no place

  /// Throws as conv2d.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in, out;
  const Size2d kernel;
  const Options options;
  const Tensor weight;  ///< (out, in / groups, kh, kw)
  const Tensor bias;    ///< (out); undefined without bias

 protected:
  std::string settings() const override;
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
struct ConvTranspose1d : Layer<ConvTranspose1d> {
  using Options = ConvTranspose1dOptions;

  /// Throws ValueError for sizes below 1 and groups that do not divide the channels.
  ConvTranspose1d(At here, std::int64_t in, std::int64_t out, std::int64_t kernel, const Options& options = {});
  explicit ConvTranspose1d(Placeless, ...);  ///< does not compile: no place

  /// Throws as conv_transpose1d.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in, out, kernel;
  const Options options;
  const Tensor weight;  ///< (in, out / groups, kernel)
  const Tensor bias;    ///< (out); undefined without bias

 protected:
  std::string settings() const override;
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
struct ConvTranspose2d : Layer<ConvTranspose2d> {
  using Options = ConvTranspose2dOptions;

  /// Throws ValueError for sizes below 1 and groups that do not divide the channels.
  ConvTranspose2d(At here, std::int64_t in, std::int64_t out, const Size2d& kernel, const Options& options = {});
  explicit ConvTranspose2d(Placeless, ...);  ///< does not compile: no place

  /// Throws as conv_transpose2d.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in, out;
  const Size2d kernel;
  const Options options;
  const Tensor weight;  ///< (in, out / groups, kh, kw)
  const Tensor bias;    ///< (out); undefined without bias

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
