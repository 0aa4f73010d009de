// Residual networks (He et al., "Deep Residual Learning for Image Recognition", 2015), with torchvision's names.
#pragma once

#include <array>

#include "../containers/maybe.h"
#include "../containers/stack.h"
#include "../layer.h"
#include "../layers/conv.h"
#include "../layers/linear.h"
#include "../layers/norm.h"

namespace xgrad::nn {

/// The kind of residual block.
enum class ResidualBlockKind {
  basic,       ///< two convolutions of 3 x 3
  bottleneck,  ///< 1 x 1 to a quarter of the channels, 3 x 3, and 1 x 1 back
};

struct ResNetOptions {
  ResidualBlockKind block = ResidualBlockKind::basic;
  std::array<std::int64_t, 4> layers = {2, 2, 2, 2};  ///< blocks of each stage
  std::int64_t channels = 3;
  std::int64_t width = 64;  ///< channels of the first stage's 3 x 3 convolutions; doubled in each stage
  std::int64_t classes = 1000;
};

/// The sizes of the paper: 18 and 34 of basic blocks, 50 of bottlenecks.
ResNetOptions resnet18();
ResNetOptions resnet34();
ResNetOptions resnet50();

struct ResidualBlockOptions {
  ResidualBlockKind block = ResidualBlockKind::basic;
  std::int64_t in = 64;
  std::int64_t width = 64;  ///< channels of the 3 x 3 convolutions; the result has 4 times that for a bottleneck
  std::int64_t stride = 1;  ///< of the first 3 x 3 convolution
};

/// y = relu(x + F(x)), F convolutions with batch norm and relu between them. Where x has another shape than F(x), a
/// convolution of 1 x 1 with batch norm makes it fit.
struct ResidualBlock : Layer<ResidualBlock> {
  using Options = ResidualBlockOptions;

  /// Throws ValueError for sizes below 1.
  ResidualBlock(At here, const Options& options);
  explicit ResidualBlock(Placeless, ...);  ///< does not compile: no place

  /// x (B, in, H, W) -> (B, out, H / stride, W / stride), sizes rounded up. Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  /// The shortcut connection past the convolutions.
  struct Shortcut : Layer<Shortcut> {
    Shortcut(At here, std::int64_t in, std::int64_t out, std::int64_t stride);
    explicit Shortcut(Placeless, ...);  ///< does not compile: no place
    Tensor forward(const Tensor& x) const;

    Conv2d conv;
    BatchNorm2d norm;
  };

  const std::int64_t out;
  Conv2d conv1;
  BatchNorm2d bn1;
  Conv2d conv2;
  BatchNorm2d bn2;
  Maybe<Conv2d> conv3;  ///< of a bottleneck
  Maybe<BatchNorm2d> bn3;
  Maybe<Shortcut> downsample;  ///< where sizes differ
};

/// The blocks of a stage, called 0, 1, ...; the first one has the stride.
struct ResidualStage : Stack<ResidualBlock> {
  using Options = ResidualBlockOptions;

  /// Throws ValueError for a count below 1.
  ResidualStage(At here, std::int64_t count, const Options& first);
  explicit ResidualStage(Placeless, ...);  ///< does not compile: no place
};

/// A convolution of 7 x 7, max pooling, four stages, global average pooling, and a linear map.
///
///     (B, 3, H, W) -> (B, 64, H/4, W/4) -> ... -> (B, 512, H/32, W/32) -> (B, classes)
///
/// ResNet-18 for 1000 classes has 11,689,512 parameters, ResNet-50 25,557,032; weights of torchvision's models load as
/// they are. Threads: in training one at a time, for its batch norms.
struct ResNet : Layer<ResNet> {
  using Options = ResNetOptions;

  /// Throws ValueError for sizes below 1.
  explicit ResNet(At here, const Options& options = {});
  explicit ResNet(Placeless, ...);  ///< does not compile: no place

  /// x (B, channels, H, W) -> logits (B, classes). Throws ShapeError.
  Tensor forward(const Tensor& x) const;

  const Options options;
  Conv2d conv1;
  BatchNorm2d bn1;
  ResidualStage layer1, layer2, layer3, layer4;
  Linear fc;

 protected:
  std::string settings() const override;

 private:
  ResidualBlockOptions stage(int number) const;
};

}  // namespace xgrad::nn
