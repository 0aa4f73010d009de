// Residual networks (He et al., "Deep Residual Learning for Image Recognition", 2015), with the names of torchvision.
#pragma once

#include <array>
#include <functional>

#include "../containers/maybe.h"
#include "../containers/sequential.h"
#include "../containers/stack.h"
#include "../layer.h"
#include "../layers/conv.h"
#include "../layers/linear.h"
#include "../layers/norm.h"

namespace xgrad::nn {

/// The kind of residual block.
enum class ResidualBlockKind {
  basic,       ///< two 3 x 3 convolutions
  bottleneck,  ///< a 1 x 1 convolution to a quarter of the channels, 3 x 3, and 1 x 1 back
};

struct ResNetOptions {
  ResidualBlockKind block = ResidualBlockKind::basic;
  std::array<std::int64_t, 4> layers = {2, 2, 2, 2};  ///< number of blocks in each stage
  std::int64_t channels = 3;
  std::int64_t width = 64;  ///< channels of the 3 x 3 convolutions in the first stage; each stage doubles it
  std::int64_t classes = 1000;
};

/// The options of two models of the paper: 18 layers with basic blocks, 50 with bottlenecks.
inline ResNetOptions resnet18() { return {}; }
inline ResNetOptions resnet50() { return {.block = ResidualBlockKind::bottleneck, .layers = {3, 4, 6, 3}}; }

struct ResidualBlockOptions {
  ResidualBlockKind block = ResidualBlockKind::basic;
  std::int64_t in = 64;
  std::int64_t width = 64;  ///< channels of the 3 x 3 convolutions; a bottleneck returns 4 times as many
  std::int64_t stride = 1;  ///< stride of the first 3 x 3 convolution
};

namespace detail {
/// The options of a convolution without a bias, with the initial values of He et al.
Conv2dOptions residual_convolution(std::int64_t stride = 1, std::int64_t padding = 0);
}  // namespace detail

/// y = relu(x + F(x)), where F consists of convolutions with batch norm and relu between them. If F(x) has another
/// shape than x, a 1 x 1 convolution with batch norm maps x to that shape. Throws ValueError for sizes below 1.
struct ResidualBlock : Layer<ResidualBlock, ResidualBlockOptions> {
  using Layer::Layer;

  /// x (B, in, H, W) -> (B, out, H / stride, W / stride), with sizes rounded up. Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const bool basic = options.block == ResidualBlockKind::basic;
  const std::int64_t out = positive("width", options.width) * (basic ? 1 : 4);
  Conv2d conv1{at("conv1"), options.in, options.width, basic ? 3 : 1,
               basic ? detail::residual_convolution(options.stride, 1) : detail::residual_convolution()};
  BatchNorm2d bn1{at("bn1"), options.width};
  Conv2d conv2{at("conv2"), options.width, options.width, 3,
               detail::residual_convolution(basic ? 1 : options.stride, 1)};
  BatchNorm2d bn2{at("bn2"), options.width};
  Maybe<Conv2d> conv3{at("conv3"), !basic, options.width, out, 1, detail::residual_convolution()};
  Maybe<BatchNorm2d> bn3{at("bn3"), !basic, out};
  Maybe<Sequential> downsample{at("downsample"), options.stride != 1 || options.in != out,  // if shapes differ
                               make<Conv2d>(options.in, out, 1, detail::residual_convolution(options.stride)),
                               make<BatchNorm2d>(out)};
};

/// A 7 x 7 convolution, max pooling, four stages, global average pooling, and a linear map:
///
///     (B, 3, H, W) -> (B, 64, H/4, W/4) -> ... -> (B, 512, H/32, W/32) -> (B, classes)
///
/// For 1000 classes ResNet-18 has 11,689,512 parameters, ResNet-50 25,557,032. The weights of torchvision's models load
/// without changes. Throws ValueError for sizes below 1. Threads: in training one thread at a time, because of the
/// batch norms.
struct ResNet : Layer<ResNet, ResNetOptions> {
  using Layer::Layer;

  /// x (B, channels, H, W) -> logits (B, classes). Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  Conv2d conv1{at("conv1"), options.channels, positive("width", options.width, largest_size >> 6), 7,
               detail::residual_convolution(2, 3)};
  BatchNorm2d bn1{at("bn1"), options.width};
  Stack<ResidualBlock> layer1{at("layer1"), positive("layers", options.layers[0]), stage(0)};
  Stack<ResidualBlock> layer2{at("layer2"), positive("layers", options.layers[1]), stage(1)};
  Stack<ResidualBlock> layer3{at("layer3"), positive("layers", options.layers[2]), stage(2)};
  Stack<ResidualBlock> layer4{at("layer4"), positive("layers", options.layers[3]), stage(3)};
  Linear fc{at("fc"), layer4[0].out, options.classes};

 protected:
  std::string extra_repr() const override;

 private:
  /// A function that makes block i of a stage. Block 0 halves height and width, except in stage 0.
  std::function<ResidualBlock(At here, std::int64_t i)> stage(int number) const;
};

}  // namespace xgrad::nn
