// The vision transformer: patches, tokens, heads, gradients, bad settings.
#include "../support.h"

#include <xgrad/nn/models/vision_transformer.h>
#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/products/matmul.h>

namespace xgrad::testing {
namespace {

using namespace nn;

const VisionTransformerOptions small{
    .image = {8, 4}, .patch = {4, 2}, .channels = 2, .dim = 6, .heads = 2, .layers = 2, .classes = 3};

TEST_CASE("Patches become tokens by one linear map, and a class token stands before them") {
  // F1: 224 x 224 x 3 in patches of 16 x 16 are 196 tokens of 768.
  const VisionTransformer model{root, small};
  const Tensor x = normal({2, 2, 8, 4});
  const Tensor map = model.conv_proj(x);  // (2, 6, 2, 2)
  CHECK(map.shape() == Shape{2, 6, 2, 2});
  const Tensor pixels = permute(reshape(x, {2, 2, 2, 4, 2, 2}), {0, 2, 4, 1, 3, 5});  // (B, h, w, C, 4, 2)
  const Tensor tokens =
      linear(reshape(pixels, {2, 4, 16}), reshape(model.conv_proj.weight, {6, 16}), model.conv_proj.bias);
  check_close(transpose(flatten(map, 2), 1, 2).value(), tokens.value());
  CHECK(model.features(x).shape() == Shape{2, 5, 6});
  CHECK(model.encoder.pos_embedding.shape() == Shape{1, 5, 6});
  CHECK(model(x).shape() == Shape{2, 3});
}

TEST_CASE("The mean of all tokens may take the place of a class token") {
  VisionTransformerOptions options = small;
  options.pooling = VitPooling::mean;
  options.layers = 0;
  CHECK(error_of<ValueError>([&] { VisionTransformer(root, options); }) ==
        "VisionTransformer: layers 0 is not positive");
  options.layers = 1;
  const VisionTransformer model{root, options};
  model.heads.head.weight.assign(normal({3, 6}));
  const Tensor x = normal({2, 2, 8, 4}), z = model.features(x);
  CHECK(!model.class_token.defined());
  CHECK(z.shape() == Shape{2, 4, 6});
  check_close(model(x).value(), model.heads.head(mean(z, 1)).value());
}

TEST_CASE("Drop path of the vision transformer grows from layer to layer") {
  VisionTransformerOptions options = small;
  options.layers = 3;
  options.drop_path = 0.5;
  const VisionTransformer model{root, options};
  CHECK(model.encoder.layers.blocks[0]->drop_path.p == 0);
  CHECK(model.encoder.layers.blocks[1]->drop_path.p == 0.25);
  CHECK(model.encoder.layers.blocks[2]->drop_path.p == 0.5);
}

TEST_CASE("The vision transformer refuses bad settings and inputs") {
  const auto with = [](auto change) {
    VisionTransformerOptions options = small;
    change(options);
    VisionTransformer(root, options);
  };
  check_refused<ValueError>({
      {[&] { with([](auto& o) { o.image = {9, 4}; }); },
       {"vision_transformer: an image of 9 x 4 does not divide into patches of 4 x 2"}},
      {[&] { with([](auto& o) { o.patch = {0, 2}; }); }, {"VisionTransformer: patch 0 is not positive"}},
      {[&] { with([](auto& o) { o.drop_path = 2; }); }, {"VisionTransformer: drop_path 2 is not in [0, 1]"}}
  });
  CHECK(
      error_of<ValueError>([&] { with([](auto& o) { o.heads = 4; }); }) ==
      "multihead_attention: embed_dim 6 does not divide by 4 heads\n  in encoder.layers.encoder_layer_0.self_attention "
      "(MultiheadAttention 6, 4 heads)");
  const VisionTransformer model{root, small};
  CHECK(error_of<ShapeError>([&] {
          model(zeros({1, 2, 4, 8}));
        }).starts_with("vision_transformer: needs (B, 2, 8, 4), got [1, 2, 4, 8]"));
}

}  // namespace
}  // namespace xgrad::testing
