// Convolutional layers, with the parameters and names of PyTorch.
#pragma once

#include "../../ops/network/conv.h"
#include "../layer.h"

namespace xgrad::nn {

/// The options of a convolution. Extent is the type of sizes along the axes: an integer for sequences, Size2d for
/// images.
template <class Extent, class Padding>
struct ConvOptionsOf {
  Extent stride = 1;
  Padding padding = 0;
  Extent dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Init init = {};       ///< initial weight; by default uniform in +-1/sqrt(n), n the number of products in one sum
  Init bias_init = {};  ///< initial bias; the same default
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
  Init init = {};       ///< initial weight; by default uniform in +-1/sqrt(out / groups kh kw)
  Init bias_init = {};  ///< initial bias; the same default
};

namespace detail {

/// The channels of one group. Throws ValueError if the groups do not divide the channels.
std::int64_t conv_channels(const char* name, std::int64_t channels, std::int64_t groups);
/// The given Init, or PyTorch's default for results that are sums of this number of products.
Init conv_init(const Init& given, std::int64_t products);

/// The base class of convolutional layers. Extent is the type of the size of the kernel: an integer for sequences,
/// Size2d for images.
template <class Self, auto function, class Extent, class OptionsOf>
class ConvLayer : public Layer<Self, OptionsOf> {
 public:
  /// Throws ValueError for sizes below 1 and groups that do not divide the channels.
  ConvLayer(At here, std::int64_t in_channels, std::int64_t out_channels, const Extent& size,
            const OptionsOf& given = {})
      : Layer<Self, OptionsOf>(std::move(here), given),
        in(this->positive("in", in_channels)),
        out(this->positive("out", out_channels)),
        kernel(checked(size)) {}
  template <class... Rest>
  explicit ConvLayer(Module::Placeless, const Rest&...);

  /// Throws what the function throws.
  Tensor forward(const Tensor& x) const;

  const std::int64_t in, out;
  const Extent kernel;
  /// (out, in / groups, kernel...); for a transposed convolution (in, out / groups, kernel...)
  const Tensor weight =
      this->param("weight", weight_shape(), conv_init(this->options.init, weight_shape().numel() / rows()));
  const Tensor bias =  ///< (out); undefined if options.bias is false
      this->options.bias ? this->param("bias", {out}, conv_init(this->options.bias_init, weight.size() / rows()))
                         : Tensor();

 protected:
  std::string extra_repr() const override;

 private:
  static constexpr bool transposed = requires(const OptionsOf& given) { given.output_padding; };
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
    conv_channels(transposed ? "in" : "out", rows(), this->options.groups);
    const std::int64_t columns = conv_channels(transposed ? "out" : "in", transposed ? out : in, this->options.groups);
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
