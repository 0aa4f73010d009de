// The stages on the way through vision transformers. Those of the published sizes are on docs/topics/vision.md, which
// `tests/long figures` compares.
#include <doctest/doctest.h>

#include <experiments/vision.h>

namespace vision_parts {
namespace {

std::vector<Shape> shapes_of(const std::vector<Stage>& stages) {
  std::vector<Shape> shapes;
  for (const Stage& stage : stages) shapes.push_back(stage.shape);
  return shapes;
}

TEST_CASE("the stages are those of the models' own forward passes") {
  const nn::VisionTransformer vit{
      nn::root, {.image = 8, .patch = 4, .channels = 1, .dim = 6, .heads = 2, .layers = 1, .classes = 3}};
  const Tensor patches = flatten(permute(vit.conv_proj(zeros({1, 1, 8, 8})), {0, 2, 3, 1}), 1, 2);
  const Tensor by_hand = vit.encoder(concat({vit.class_token, patches}, 1));
  CHECK(max(abs(by_hand - vit.features(zeros({1, 1, 8, 8})))).item() == 0);
  CHECK(shapes_of(stages_of(vit)) == std::vector<Shape>{{1, 8, 8}, {2, 2, 6}, {4, 6}, {5, 6}, {5, 24}, {5, 6}, {3}});
}

}  // namespace
}  // namespace vision_parts
