// Convolutional layers, with PyTorch's parameters and names.
#pragma once

#include "../../ops/network/conv.h"
#include "../layer.h"

namespace xgrad::nn {

/// The options of a convolution. Extent is the size along all axes: an integer for sequences, Size2d for pictures.
template <class Extent, class Padding>
struct ConvOptionsOf {
  Extent stride = 1;
  Padding padding = 0;
  Extent dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Init init = {};       ///< of the weight; if not given, uniform in +-1/sqrt(n), n the products in a sum
  Init bias_init = {};  ///< likewise
};
/// The options of Conv1d.
using Conv1dOptions = ConvOptionsOf<std::int64_t, Padding1d>;
/// The options of Conv2d.
using Conv2dOptions = ConvOptionsOf<Size2d, Padding2d>;

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

namespace detail {

/// The channels of one of the groups. Throws ValueError if they cannot be divided.
std::int64_t conv_channels(const char* name, std::int64_t channels, std::int64_t groups);
/// The given Init, else PyTorch's default for results that are sums of so many products.
Init conv_init(const Init& given, std::int64_t products);

/// The layer of a convolution. Extent is the size of a kernel: an integer for sequences, Size2d for pictures.
template <class Self, auto function, class Extent, class OptionsOf>
class ConvLayer : public LayerCall<Self> {
 public:
  using Options = OptionsOf;

  /// Throws ValueError for sizes below 1 and groups that do not divide the channels.
  ConvLayer(At here, std::int64_t in_channels, std::int64_t out_channels, const Extent& size, const Options& given = {})
      : LayerCall<Self>(std::move(here)),
        in(this->positive("in", in_channels)),
        out(this->positive("out", out_channels)),
        kernel(checked(size)),
        options(given) {}
  template <class... Rest>
  explicit ConvLayer(Module::Placeless, const Rest&...);

  /// Throws as the function.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in, out;
  const Extent kernel;
  const Options options;
  /// (out, in / groups, kernel...); of a transposed convolution (in, out / groups, kernel...)
  const Tensor weight = this->param("weight", weight_shape(), conv_init(options.init, weight_shape().numel() / rows()));
  const Tensor bias =  ///< (out); undefined without bias
      options.bias ? this->param("bias", {out}, conv_init(options.bias_init, weight.size() / rows())) : Tensor();

 protected:
  std::string extra_repr() const override;

 private:
  static constexpr bool transposed = requires(const Options& given) { given.output_padding; };
  static constexpr bool of_pictures = std::same_as<Extent, Size2d>;

  std::int64_t rows() const { return transposed ? in : out; }
  Extent checked(const Extent& size) const {
    if constexpr (of_pictures) {
      return {this->positive("kernel", size.height), this->positive("kernel", size.width)};
    } else {
      return this->positive("kernel", size);
    }
  }
  Shape weight_shape() const {
    conv_channels(transposed ? "in" : "out", rows(), options.groups);
    const std::int64_t columns = conv_channels(transposed ? "out" : "in", transposed ? out : in, options.groups);
    if constexpr (of_pictures) {
      return {rows(), columns, kernel.height, kernel.width};
    } else {
      return {rows(), columns, kernel};
    }
  }
};

}  // namespace detail

/// y = conv1d(x, weight, bias)      x (B, in, T) or (in, T) -> (B, out, T')
struct Conv1d : detail::ConvLayer<Conv1d, conv1d, std::int64_t, Conv1dOptions> {
  using ConvLayer::ConvLayer;
};
/// y = conv2d(x, weight, bias)      x (B, in, H, W) or (in, H, W) -> (B, out, H', W')
struct Conv2d : detail::ConvLayer<Conv2d, conv2d, Size2d, Conv2dOptions> {
  using ConvLayer::ConvLayer;
};
/// y = conv_transpose2d(x, weight, bias)      x (B, in, H, W) or (in, H, W) -> (B, out, H', W')
struct ConvTranspose2d : detail::ConvLayer<ConvTranspose2d, conv_transpose2d, Size2d, ConvTranspose2dOptions> {
  using ConvLayer::ConvLayer;
};

}  // namespace xgrad::nn
