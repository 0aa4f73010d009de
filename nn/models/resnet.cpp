// Residual networks.
#include "resnet.h"

#include "../../core/array/shape_hints.h"
#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/network/pooling.h"
#include "../../ops/reduce/reduce.h"

namespace xgrad::nn {

Conv2dOptions detail::residual_convolution(std::int64_t stride, std::int64_t padding) {
  return {.stride = stride,
          .padding = padding,
          .bias = false,
          .init = init::kaiming_normal({.nonlinearity = init::Nonlinearity::relu, .mode = init::FanMode::out})};
}

Tensor ResidualBlock::forward(const Tensor& x) const {
  Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
  if (conv3) y = bn3(conv3(relu(y)));
  return relu(y + downsample(x));
}

Tensor ResNet::forward(const Tensor& x) const {
  if (x.rank() != 4 || x.dim(1) != options.channels) {
    fail<ShapeError>("resnet", "needs (B, ", options.channels, ", H, W), got ", x.shape(),
                     xgrad::detail::batch_axis_hint(x.shape(), Shape{options.channels, -1, -1}));
  }
  Tensor y = max_pool2d(relu(bn1(conv1(x))), 3, {.stride = 2, .padding = 1});  // (B, 64, H/4, W/4)
  y = layer4(layer3(layer2(layer1(y))));                                       // (B, 512, H/32, W/32)
  return fc(mean(y, {2, 3}));
}

std::function<ResidualBlock(At, std::int64_t)> ResNet::stage(int number) const {
  return [this, number](At here, std::int64_t i) {
    const std::int64_t width = options.width << number, wider = options.block == ResidualBlockKind::basic ? 1 : 4;
    const std::int64_t before = number == 0 ? width : width / 2 * wider;
    return ResidualBlock(std::move(here), {.block = options.block,
                                           .in = i == 0 ? before : width * wider,
                                           .width = width,
                                           .stride = i == 0 && number > 0 ? 2 : 1});
  };
}

std::string ResNet::extra_repr() const {
  std::string blocks;
  for (const std::int64_t count : options.layers) blocks += str(blocks.empty() ? "" : " ", count);
  return str(options.width, " wide, ", blocks,
             options.block == ResidualBlockKind::basic ? " basic blocks" : " bottlenecks");
}

}  // namespace xgrad::nn
