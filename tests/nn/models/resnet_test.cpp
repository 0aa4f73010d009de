// Residual networks: sizes, gradients, bad settings.
#include "../support.h"

#include <xgrad/nn/models/resnet.h>
#include <xgrad/ops/arrange/create.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Each stage of a residual network but the first halves the map and doubles the channels") {
  const ResNet model{root, {.layers = {1, 1, 1, 1}, .channels = 1, .width = 2, .classes = 5}};
  const Tensor x = normal({2, 2, 10, 9});
  CHECK(model.layer1(x).shape() == Shape{2, 2, 10, 9});
  CHECK(model.layer2(x).shape() == Shape{2, 4, 5, 5});
  CHECK(model(normal({2, 1, 33, 40})).shape() == Shape{2, 5});
  CHECK(!model.layer1[0].downsample);
  CHECK(model.layer2[0].downsample);
}

TEST_CASE("Gradients of a block with a bottleneck are those of differences") {
  manual_seed(3);
  const ResidualBlock block{root, {.block = ResidualBlockKind::bottleneck, .in = 3, .width = 1, .stride = 2}};
  for (const Tensor& bias : {block.bn1.bias, block.bn2.bias, block.bn3->bias}) {
    bias.assign(Array(bias.shape(), Real(9)));  // far from where relu bends
  }
  const auto run = [&](const Tensors& x) {
    const Eval eval(block);  // the same statistics each time
    return block(x[0]);
  };
  check_module_gradients(block, run, {normal({2, 3, 5, 4})}, 1e-6);
}

TEST_CASE("Residual networks refuse bad settings and inputs") {
  CHECK(error_of<ValueError>([] {
          ResNet(root, {.layers = {1, 0, 1, 1}, .width = 1});
        }) == "ResNet: layers 0 is not positive");
  CHECK(error_of<ValueError>([] { ResNet(root, {.width = 0}); }) == "ResNet: width 0 is not positive");
  const ResNet model{root, {.layers = {1, 1, 1, 1}, .width = 1, .classes = 2}};
  CHECK(error_of<ShapeError>([&] {
          model(zeros({1, 1, 8, 8}));
        }).starts_with("resnet: needs (B, 3, H, W), got [1, 1, 8, 8]"));
}

}  // namespace
}  // namespace xgrad::testing
