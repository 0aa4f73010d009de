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
