// Convolutions: those of the workload W7, of residual networks, of patches, of channels one by one, from and to one channel,
// and along one axis.
#include <xgrad/ops/network/conv.h>

#include "table.h"

namespace {

using namespace micro;

struct Layer {
  const char* name;
  Shape x, weight;
  Conv2dFuncOptions options{};

  std::int64_t out(int axis) const {
    const bool down = axis == 2;
    const std::int64_t stride = down ? options.stride.height : options.stride.width;
    const std::int64_t padding = down ? options.padding.each().height : options.padding.each().width;
    return (x[axis] + 2 * padding - weight[axis]) / stride + 1;
  }
  Shape y() const { return {x[0], weight[0], out(2), out(3)}; }
  double flops() const { return 2.0 * double(y().numel()) * double(weight.numel() / weight[0]); }
  double sizes() const { return double(x.numel() + weight.numel() + y().numel()); }
};

const Layer layers[] = {
    {"W7_first", {64, 1, 28, 28}, {32, 1, 3, 3}},
    {"W7_second", {64, 32, 26, 26}, {64, 32, 3, 3}},
    {"resnet_56", {4, 64, 56, 56}, {64, 64, 3, 3}, {.padding = 1}},
    {"resnet_28_half", {4, 128, 56, 56}, {128, 128, 3, 3}, {.stride = 2, .padding = 1}},
    {"resnet_14", {4, 256, 14, 14}, {256, 256, 3, 3}, {.padding = 1}},
    {"resnet_7", {4, 512, 7, 7}, {512, 512, 3, 3}, {.padding = 1}},
    {"resnet_stem", {4, 3, 224, 224}, {64, 3, 7, 7}, {.stride = 2, .padding = 3}},
    {"one_by_one", {4, 256, 56, 56}, {64, 256, 1, 1}},
    {"patches", {4, 3, 224, 224}, {192, 3, 16, 16}, {.stride = 16}},
    {"depthwise", {4, 96, 56, 56}, {96, 1, 7, 7}, {.padding = 3, .groups = 96}},
    {"from_one", {64, 1, 28, 28}, {8, 1, 3, 3}, {.padding = 1}},
    {"to_one", {64, 16, 28, 28}, {1, 16, 3, 3}, {.padding = 1}},
    {"to_three", {64, 32, 32, 32}, {3, 32, 3, 3}, {.padding = 1}},
    {"one_axis", {4, 64, 1, 16000}, {64, 64, 1, 9}},
};

using Make = std::function<std::function<void()>(const Layer&)>;

std::vector<Row> table(const Make& make) {
  std::vector<Row> rows;
  for (const Layer& l : layers) rows.push_back({l.name, l.sizes(), l.flops(), [=] { return make(l); }});
  return rows;
}

const bool added = add("conv2d", table([](const Layer& l) {
                         const Tensor x = numbers(l.x), w = numbers(l.weight), b = numbers({l.weight[0]});
                         return forward([=] { return conv2d(x, w, b, l.options); });
                       })) &&
                   add("conv2d_image'", table([](const Layer& l) {
                         const Tensor x = parameter(l.x), w = numbers(l.weight);
                         return backward({x}, [=] { return conv2d(x, w, {}, l.options); });
                       })) &&
                   add("conv2d_weight'", table([](const Layer& l) {
                         const Tensor x = numbers(l.x), w = parameter(l.weight);
                         return backward({w}, [=] { return conv2d(x, w, {}, l.options); });
                       }));

}  // namespace
