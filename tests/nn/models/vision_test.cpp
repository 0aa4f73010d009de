// Vision transformers, Swin transformers and residual networks: patches, windows, stages, bad settings.
#include "../support.h"

#include <cmath>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

const VisionTransformerOptions small_vit{
    .image = {8, 4}, .patch = {4, 2}, .channels = 2, .dim = 6, .heads = 2, .layers = 2, .classes = 3};

TEST_CASE("An oblong picture has a position for each of its patches, and one for the class token") {
  VisionTransformerOptions options = small_vit;
  options.image = {8, 6};
  const VisionTransformer model{root, options};
  CHECK(model.encoder.pos_embedding.shape() == Shape{1, 7, 6});
  CHECK(model.features(normal({2, 2, 8, 6})).shape() == Shape{2, 7, 6});
}

TEST_CASE("Patches become tokens by one linear map, and a class token stands before them") {
  // F1: 224 x 224 x 3 in patches of 16 x 16 are 196 tokens of 768.
  const VisionTransformer model{root, small_vit};
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

TEST_CASE("Drop path of the vision transformer grows from layer to layer") {
  VisionTransformerOptions options = small_vit;
  options.layers = 3;
  options.drop_path = 0.5;
  const VisionTransformer model{root, options};
  CHECK(model.encoder.layers.blocks[0]->drop_path.p == 0);
  CHECK(model.encoder.layers.blocks[1]->drop_path.p == 0.25);
  CHECK(model.encoder.layers.blocks[2]->drop_path.p == 0.5);
}

TEST_CASE("The vision transformer refuses bad settings and inputs") {
  const auto with = [](auto change) {
    VisionTransformerOptions options = small_vit;
    change(options);
    VisionTransformer(root, options);
  };
  CHECK_REFUSED(ValueError, with([](auto& o) { o.image = {9, 4}; }), "vision_transformer", "9 x 4", "4 x 2");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.patch = {0, 2}; }), "VisionTransformer", "patch 0 is not positive");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.drop_path = 2; }), "VisionTransformer", "drop_path 2", "[0, 1]");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.heads = 4; }), "multihead_attention",
                "embed_dim 6 does not divide by 4 heads",
                "in encoder.layers.encoder_layer_0.self_attention (MultiheadAttention 6, 4 heads)");
  const VisionTransformer model{root, small_vit};
  CHECK_REFUSED(ShapeError, model(zeros({1, 2, 4, 8})), "vision_transformer", "needs (B, 2, 8, 4), got [1, 2, 4, 8]");
}

TEST_CASE("Windows that were shifted come back to exactly where they were") {
  for (const Size2d& size : {Size2d{4, 6}, Size2d{5, 7}, Size2d{2, 3}, Size2d{1, 9}, Size2d{4, 7}}) {
    for (const Size2d& shift : {Size2d{0}, Size2d{1}, Size2d{1, 0}}) {
      const WindowGrid grid(size.height, size.width, {2, 3}, shift);
      const Tensor x = normal({2, size.height, size.width, 3});
      CHECK(grid.partition(x).shape() == Shape{2 * grid.windows(), 6, 3});
      CHECK(equal(grid.reverse(grid.partition(x)).value(), x.value()));
    }
  }
}

const SwinTransformerOptions small_swin{
    .patch = 2, .channels = 1, .dim = 4, .depths = {2, 1}, .heads = {1, 2}, .window = 2, .mlp_ratio = 2, .classes = 3};

TEST_CASE("A shifted window keeps tokens apart that are no neighbours") {
  // A 4 x 4 map, windows 2 x 2 shifted by 1: the last window holds all four corners.
  const WindowGrid grid(4, 4, 2, 1);
  const Mask apart = grid.regions();
  const auto pairs = [&](std::int64_t window) {
    return std::count(apart.data() + 16 * window, apart.data() + 16 * (window + 1), true);
  };
  CHECK(pairs(0) == 0);   // one region
  CHECK(pairs(1) == 8);   // right edge: two of two tokens
  CHECK(pairs(2) == 8);   // bottom edge
  CHECK(pairs(3) == 12);  // corner: four of one
  // By positions: tokens of a window may see each other where they are less than a window apart on the map.
  const Tensor rows = to_real(arange(16));
  const Tensor at = grid.partition(Tensor(rows.value().reshaped({1, 4, 4, 1})));
  for (std::int64_t w = 0; w < 4; ++w) {
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 4; ++j) {
        const auto p = static_cast<std::int64_t>(at.value().at({w, i, 0})),
                   q = static_cast<std::int64_t>(at.value().at({w, j, 0}));
        const bool near = std::abs(p / 4 - q / 4) < 2 && std::abs(p % 4 - q % 4) < 2;
        CHECK(apart.at({w, i, j}) == !near);
      }
    }
  }
  CHECK(!WindowGrid(2, 2, 2, 1).shifted());
}

TEST_CASE("Each stage halves the map and doubles the channels") {
  const SwinTransformer model{root, small_swin};
  const Tensor x = normal({1, 1, 12, 8});
  const Tensor patches = model.features.get<SwinPatches>(0)(x);
  CHECK(patches.shape() == Shape{1, 6, 4, 4});
  CHECK(model.features(x).shape() == Shape{1, 3, 2, 8});
  CHECK(model(x).shape() == Shape{1, 3});
  CHECK(model(normal({2, 1, 7, 5})).shape() == Shape{2, 3});
}

TEST_CASE("Drop path of the Swin transformer grows from block to block of all stages, and every other one is shifted") {
  SwinTransformerOptions options = small_swin;
  options.depths = {2, 3};
  options.window = {2, 4};
  options.drop_path = 0.4;
  const SwinTransformer model{root, options};
  const auto& first = model.features.get<SwinStage>(1);
  const auto& second = model.features.get<SwinStage>(3);
  const std::vector<const SwinBlock*> blocks{&first[0], &first[1], &second[0], &second[1], &second[2]};
  const bool shifted[]{false, true, false, true, false};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    CHECK(blocks[i]->drop_path.p == doctest::Approx(0.1 * static_cast<double>(i)));
    CHECK(blocks[i]->attn.shift.height == (shifted[i] ? 1 : 0));
    CHECK(blocks[i]->attn.shift.width == (shifted[i] ? 2 : 0));
    CHECK(blocks[i]->attn.dim == (i < 2 ? 4 : 8));
    CHECK(blocks[i]->mlp.fc1.out == (i < 2 ? 8 : 16));
  }
  CHECK(first[1].attn.description() == "SwinAttention 4, 1 heads, windows 2 x 4, shifted");
  CHECK(first[0].attn.description() == "SwinAttention 4, 1 heads, windows 2 x 4");
  options.depths = {1};
  options.heads = {1};
  CHECK(SwinTransformer(root, options).features.get<SwinStage>(1)[0].drop_path.p == 0);
}

TEST_CASE("First weights of vision transformers are the papers'") {
  manual_seed(3);
  const SwinTransformer swin{
      root, {.patch = 2, .channels = 1, .dim = 32, .depths = {1}, .heads = {1}, .window = 2, .classes = 50}};
  const auto& block = swin.features.get<SwinStage>(1)[0];
  for (const Tensor& w : {block.attn.qkv.weight, block.attn.proj.weight, block.mlp.fc1.weight, swin.head.weight}) {
    CHECK(deviation(w) == doctest::Approx(0.02).epsilon(0.05).scale(0));
  }
  CHECK(deviation(block.attn.relative_position_bias_table) == doctest::Approx(0.02).epsilon(0.8).scale(0));
  for (const Tensor& b : {block.attn.qkv.bias, block.attn.proj.bias, block.mlp.fc1.bias, swin.head.bias}) {
    CHECK(largest(b.value()) == 0);
  }
  VisionTransformerOptions options = small_vit;
  options.dim = 60;
  const VisionTransformer vit{root, options};
  CHECK(deviation(vit.conv_proj.weight) == doctest::Approx(0.25).epsilon(0.1).scale(0));  // of 2 x 4 x 2 numbers
  CHECK(largest(vit.conv_proj.bias.value()) == 0);
  CHECK(largest(vit.class_token.value()) == 0);
  CHECK(deviation(vit.encoder.pos_embedding) == doctest::Approx(0.02).epsilon(0.2).scale(0));
  CHECK(largest(vit.heads.head.weight.value()) == 0);
  CHECK(largest(vit.heads.head.bias.value()) == 0);
  const auto& layer = *vit.encoder.layers.blocks[0];
  CHECK(largest(layer.mlp.fc1.weight.value()) == doctest::Approx(std::sqrt(6. / 300)).epsilon(0.01).scale(0));
  CHECK(deviation(layer.mlp.fc2.bias) == doctest::Approx(1e-6).epsilon(0.4).scale(0));
  CHECK(layer.mlp.fc1.out == 240);
  CHECK(layer.ln_1.options.eps == 1e-6);
  CHECK(layer.ln_2.options.eps == 1e-6);
  CHECK(vit.encoder.ln.options.eps == 1e-6);
  CHECK(vit.description() == "VisionTransformer 8 x 4 by 4 x 2, 2 layers of 60");
  options.layers = 1;
  options.drop_path = 0.5;
  CHECK(VisionTransformer(root, options).encoder.layers.blocks[0]->drop_path.p == 0.5);
}

TEST_CASE("The Swin transformer refuses bad settings and inputs") {
  const auto with = [](auto change) {
    SwinTransformerOptions options = small_swin;
    change(options);
    SwinTransformer(root, options);
  };
  CHECK_REFUSED(ValueError, with([](auto& o) { o.depths = {2}; }), "swin_transformer", "1 depths", "and 2", "needs 1",
                "to 16");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.depths = {0, 1}; }), "SwinTransformer", "depth 0 is not positive");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.mlp_ratio = 0; }), "swin_transformer", "mlp_ratio 0", "(0, 1024]");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.mlp_ratio = 1025; }), "swin_transformer", "mlp_ratio 1025",
                "(0, 1024]");
  with([](auto& o) { o.mlp_ratio = 1024; });
  CHECK_REFUSED(ValueError, with([](auto& o) { o.depths = o.heads = std::vector<std::int64_t>(17, 1); }),
                "swin_transformer", "17 depths and 17 numbers of heads");
  CHECK_REFUSED(ValueError, SwinAttention(root, 2, 1, -1, {.window = 2}), "window_attention", "shift -1", "[0, 2)");
  CHECK_REFUSED(LimitError, with([](auto& o) { o.window = 1025; }), "SwinAttention", "window of 1025 is too large");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.drop_path = -1; }), "SwinTransformer", "drop_path -1", "[0, 1]");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.heads = {3, 2}; }), "window_attention", "dim 4", "3 heads");
  CHECK_REFUSED(ValueError, with([](auto& o) { o.window = 0; }), "SwinAttention", "window 0 is not positive");
  CHECK_REFUSED(ValueError, SwinAttention(root, 2, 1, 2, {.window = 2}), "window_attention", "shift 2", "[0, 2)");
  const SwinTransformer model{root, small_swin};
  CHECK_REFUSED(ShapeError, model(zeros({1, 1, 1, 8})), "swin_transformer",
                "needs (B, 1, H, W) of a patch 2 x 2 at least, got [1, 1, 1, 8]");
  CHECK_REFUSED(ShapeError, PatchMerging(root, 2)(zeros({1, 2, 2, 3})), "patch_merging",
                "needs (B, H, W, 2) with H and W above 0, got [1, 2, 2, 3]");
  CHECK_REFUSED(ShapeError, SwinAttention(root, 2, 1, 0, {})(zeros({1, 0, 2, 2})), "window_attention",
                "needs (B, H, W, 2) with H and W above 0, got [1, 0, 2, 2]");
}

TEST_CASE("First weights of residual networks are He's for relu, by the fan of the outputs") {
  manual_seed(3);
  const Conv2d wide{root, 20, 30, 3, nn::detail::residual_convolution(2, 1)};
  CHECK(deviation(wide.weight) == doctest::Approx(std::sqrt(2. / 270)).epsilon(0.05).scale(0));
  CHECK(!wide.bias.defined());
}

TEST_CASE("Residual networks refuse bad settings and inputs") {
  CHECK_REFUSED(ValueError, ResNet(root, {.layers = {1, 0, 1, 1}, .width = 1}), "ResNet", "layers 0 is not positive");
  CHECK_REFUSED(ValueError, ResNet(root, {.width = 0}), "ResNet", "width 0 is not positive");
  const ResNet model{root, {.layers = {1, 1, 1, 1}, .width = 1, .classes = 2}};
  CHECK_REFUSED(ShapeError, model(zeros({1, 1, 8, 8})), "resnet", "needs (B, 3, H, W), got [1, 1, 8, 8]");
}

}  // namespace
}  // namespace xgrad::testing
