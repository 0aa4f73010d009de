// Residual networks.
#include "resnet.h"

#include "../../core/array/shape_hints.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/layers/pooling.h"
#include "../../ops/reduce/reduce.h"

namespace xgrad::nn {
namespace {

// The factor by which a bottleneck's result has more channels than its middle.
std::int64_t expansion(ResidualBlockKind block) { return block == ResidualBlockKind::bottleneck ? 4 : 1; }

Conv2dOptions convolution(std::int64_t stride = 1, std::int64_t padding = 0) {
  return {.stride = stride,
          .padding = padding,
          .bias = false,
          .init = init::kaiming_normal({.nonlinearity = init::Nonlinearity::relu, .mode = init::FanMode::out})};
}

}  // namespace

ResNetOptions resnet18() { return {}; }
ResNetOptions resnet34() { return {.layers = {3, 4, 6, 3}}; }
ResNetOptions resnet50() { return {.block = ResidualBlockKind::bottleneck, .layers = {3, 4, 6, 3}}; }

ResidualBlock::Shortcut::Shortcut(At here, std::int64_t in, std::int64_t out, std::int64_t stride)
    : Layer(std::move(here)), conv(at("0"), in, out, 1, convolution(stride)), norm(at("1"), out) {}

Tensor ResidualBlock::Shortcut::forward(const Tensor& x) const { return norm(conv(x)); }

ResidualBlock::ResidualBlock(At here, const Options& options)
    : Layer(std::move(here)),
      out(positive("width", options.width) * expansion(options.block)),
      conv1(at("conv1"), options.in, options.width, options.block == ResidualBlockKind::basic ? 3 : 1,
            options.block == ResidualBlockKind::basic ? convolution(options.stride, 1) : convolution()),
      bn1(at("bn1"), options.width),
      conv2(at("conv2"), options.width, options.width, 3,
            convolution(options.block == ResidualBlockKind::basic ? 1 : options.stride, 1)),
      bn2(at("bn2"), options.width),
      conv3(at("conv3"), options.block == ResidualBlockKind::bottleneck, options.width, out, 1, convolution()),
      bn3(at("bn3"), options.block == ResidualBlockKind::bottleneck, out),
      downsample(at("downsample"), options.stride != 1 || options.in != out, options.in, out, options.stride) {}

Tensor ResidualBlock::forward(const Tensor& x) const {
  Tensor y = bn2(conv2(relu(bn1(conv1(x)))));
  if (conv3) y = bn3(conv3(relu(y)));
  return relu(y + downsample(x));
}

ResidualStage::ResidualStage(At here, std::int64_t count, const ResidualBlockOptions& options)
    : Stack(std::move(here), count, [&](At block, std::int64_t i) {
        ResidualBlockOptions next = options;
        if (i > 0) {
          next.in = options.width * expansion(options.block);
          next.stride = 1;
        }
        return ResidualBlock(std::move(block), next);
      }) {
  positive("blocks", count);
}

ResNet::ResNet(At here, const Options& given)
    : Layer(std::move(here)),
      options([&] {
        positive("width", given.width, largest_size >> 6);
        for (const std::int64_t count : given.layers) positive("layers", count, most_layers);
        return given;
      }()),
      conv1(at("conv1"), options.channels, options.width, 7, convolution(2, 3)),
      bn1(at("bn1"), options.width),
      layer1(at("layer1"), options.layers[0], stage(0)),
      layer2(at("layer2"), options.layers[1], stage(1)),
      layer3(at("layer3"), options.layers[2], stage(2)),
      layer4(at("layer4"), options.layers[3], stage(3)),
      fc(at("fc"), layer4[0].out, options.classes) {}

ResidualBlockOptions ResNet::stage(int number) const {
  const std::int64_t before = number == 0 ? options.width : expansion(options.block) * (options.width << (number - 1));
  return {.block = options.block, .in = before, .width = options.width << number, .stride = number == 0 ? 1 : 2};
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

std::string ResNet::settings() const {
  std::string blocks;
  for (const std::int64_t count : options.layers) blocks += cat(blocks.empty() ? "" : " ", count);
  return cat(options.width, " wide, ", blocks,
             options.block == ResidualBlockKind::basic ? " basic blocks" : " bottlenecks");
}

}  // namespace xgrad::nn
