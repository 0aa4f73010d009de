// The Swin transformer: windows and regions, merging, gradients, bad settings.
#include "../support.h"

#include <xgrad/nn/attention/attention_recorder.h>
#include <xgrad/nn/models/swin_transformer.h>
#include <xgrad/ops/arrange/create.h>

namespace xgrad::testing {
namespace {

using namespace nn;

const SwinTransformerOptions small{
    .patch = 2, .channels = 1, .dim = 4, .depths = {2, 1}, .heads = {1, 2}, .window = 2, .mlp_ratio = 2, .classes = 3};

TEST_CASE("Windows that were shifted come back to exactly where they were") {
  for (const Size2d& size : {Size2d{4, 6}, Size2d{5, 7}, Size2d{2, 3}, Size2d{1, 9}}) {
    for (const Size2d& shift : {Size2d{0}, Size2d{1}, Size2d{1, 0}}) {
      const WindowGrid grid(size.height, size.width, {2, 3}, shift);
      const Tensor x = normal({2, size.height, size.width, 3});
      CHECK(grid.partition(x).shape() == Shape{2 * grid.windows(), 6, 3});
      CHECK(equal(grid.reverse(grid.partition(x)).value(), x.value()));
    }
  }
}

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

TEST_CASE("A token attends only inside its own window and region") {
  const SwinAttention attn(root, 2, 1, 1, {.window = 2});
  AttentionRecorder recorder;
  attn(normal({1, 4, 4, 2}));
  const Array& weights = recorder.records().back().weights;  // (4, 1, 4, 4)
  const Mask apart = WindowGrid(4, 4, 2, 1).regions();
  for (std::int64_t i = 0; i < apart.size(); ++i) CHECK((weights.data()[i] == 0) == apart.data()[i]);
}

TEST_CASE("Four neighbours merge in the order of the paper's code") {
  const PatchMerging merging(root, 1);
  Array reduction(Shape{2, 4}, Real(0));
  reduction.mutable_data()[0] = reduction.mutable_data()[5] = 1;  // the first two of the four
  merging.reduction.weight.assign(reduction);
  const Tensor y = merging(Array({1, 2, 2, 1}, {0, 1, 2, 4}));  // normalised: mean 1.75
  CHECK(y.shape() == Shape{1, 1, 1, 2});
  const Real deviation = std::sqrt(Real(35) / 16 + Real(1e-5));
  check_close(y.value(), Array({1, 1, 1, 2}, {Real(-1.75) / deviation, Real(0.25) / deviation}), 1e-12);
  CHECK(merging(normal({1, 3, 5, 1})).shape() == Shape{1, 2, 3, 2});
}

TEST_CASE("Each stage halves the map and doubles the channels") {
  const SwinTransformer model{root, small};
  const Tensor x = normal({1, 1, 12, 8});
  const Tensor patches = model.features.get<SwinPatches>(0)(x);
  CHECK(patches.shape() == Shape{1, 6, 4, 4});
  CHECK(model.features(x).shape() == Shape{1, 3, 2, 8});
  CHECK(model(x).shape() == Shape{1, 3});
  CHECK(model(normal({2, 1, 7, 5})).shape() == Shape{2, 3});
}

TEST_CASE("The Swin transformer refuses bad settings and inputs") {
  const auto with = [](auto change) {
    SwinTransformerOptions options = small;
    change(options);
    SwinTransformer(root, options);
  };
  check_refused<ValueError>({
      {[&] { with([](auto& o) { o.depths = {2}; }); }, {"swin_transformer:", "1 depths", "and 2", "needs 1", "to 16"}},
      {[&] { with([](auto& o) { o.depths = {0, 1}; }); }, {"SwinTransformer: depth 0 is not positive"}},
      {[&] { with([](auto& o) { o.mlp_ratio = 0; }); }, {"swin_transformer: mlp_ratio 0 is not in (0, 1024]"}},
      {[&] { with([](auto& o) { o.drop_path = -1; }); }, {"SwinTransformer: drop_path -1 is not in [0, 1]"}},
      {[&] { with([](auto& o) { o.heads = {3, 2}; }); }, {"window_attention: dim 4 does not divide by 3 heads"}},
      {[&] { with([](auto& o) { o.window = 0; }); }, {"SwinAttention: window 0 is not positive"}},
      {[] { SwinAttention(root, 2, 1, 2, {.window = 2}); }, {"window_attention: shift 2 is not in [0, 2)"}}
  });
  const SwinTransformer model{root, small};
  check_refused<ShapeError>({
      {[&] { model(zeros({1, 1, 1, 8})); },
       {"swin_transformer: needs (B, 1, H, W) of a patch 2 x 2 at least, got [1, 1, 1, 8]"}},
      {[&] { PatchMerging(root, 2)(zeros({1, 2, 2, 3})); },
       {"patch_merging: needs (B, H, W, 2) with H and W above 0, got [1, 2, 2, 3]"}},
      {[&] { SwinAttention(root, 2, 1, 0, {})(zeros({1, 0, 2, 2})); },
       {"window_attention: needs (B, H, W, 2) with H and W above 0, got [1, 0, 2, 2]"}}
  });
}

}  // namespace
}  // namespace xgrad::testing
