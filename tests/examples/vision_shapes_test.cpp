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

TEST_CASE("ViT-B/16 has 196 tokens of 768, 197 with the class token, and is 3072 wide inside a layer") {
  nn::VisionTransformerOptions one_layer = nn::vit_b();
  one_layer.layers = 1;  // each has the same shapes
  const std::vector<Shape> expected{{3, 224, 224}, {14, 14, 768}, {196, 768}, {197, 768},
                                    {197, 3072},   {197, 768},    {1000}};
  CHECK(shapes_of(stages_of(nn::VisionTransformer{nn::root, one_layer})) == expected);
}

TEST_CASE("Swin-T has maps of 56 x 56 x 96, 28 x 28 x 192, 14 x 14 x 384 and 7 x 7 x 768") {
  nn::SwinTransformerOptions shallow = nn::swin_t();
  shallow.depths = {1, 1, 1, 1};
  const std::vector<Shape> expected{{3, 224, 224}, {56, 56, 96}, {28, 28, 192}, {14, 14, 384}, {7, 7, 768}, {1000}};
  CHECK(shapes_of(stages_of(nn::SwinTransformer{nn::root, shallow}, 224)) == expected);
}

TEST_CASE("the stages are those of the models' own forward passes") {
  const nn::VisionTransformer vit{
      nn::root, {.image = 8, .patch = 4, .channels = 1, .dim = 6, .heads = 2, .layers = 1, .classes = 3}};
  const Tensor patches = flatten(permute(vit.conv_proj(zeros({1, 1, 8, 8})), {0, 2, 3, 1}), 1, 2);
  const Tensor by_hand = vit.encoder(concat({vit.class_token, patches}, 1));
  CHECK(max(abs(by_hand - vit.features(zeros({1, 1, 8, 8})))).item() == 0);
  CHECK(shapes_of(stages_of(vit)) == std::vector<Shape>{{1, 8, 8}, {2, 2, 6}, {4, 6}, {5, 6}, {5, 24}, {5, 6}, {3}});
}

TEST_CASE("a region mask of -100 is one of -infinity to 1e-38 while scores differ by less than 12, and leaks at 100") {
  for (const double range : {0.0, 5.0, 11.9}) {
    CAPTURE(range);
    const RegionMasks masks = region_masks(corner_scores(range), corner_regions());
    for (std::int64_t i = 0; i < 16; ++i) {
      const double exact = masks.exact.value().data()[i], by_100 = masks.by_100.value().data()[i];
      CHECK(exact == (i % 5 == 0 ? 1 : 0));
      CHECK(std::abs(exact - by_100) < 1e-38);
    }
  }
  const Array leaking = region_masks(corner_scores(100), corner_regions()).by_100.value();
  CHECK(leaking.at({0, 0}) == doctest::Approx(0.25));
}

}  // namespace
}  // namespace vision_parts
