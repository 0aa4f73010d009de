// Layer norm.
#include "support.h"

#include <xgrad/nn/norm.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Layer norm gives every row mean 0 and variance 1") {
  const LayerNorm layer{root, 2, {.eps = 0}};
  check_close(layer(Array({2, 2}, {1, 2, 2, 3})).value(), Array({2, 2}, {-1, 1, -1, 1}));
  layer.weight.assign(Array({2}, {2, 3}));
  layer.bias.assign(Array({2}, {10, 20}));
  check_close(layer(Array({2, 2}, {1, 2, 2, 3})).value(), Array({2, 2}, {8, 23, 8, 23}));
  CHECK(to_string(layer) == "LayerNorm 2   4\n  weight [2]  2\n  bias [2]    2\n");
}

TEST_CASE("Layer norm works over several axes, and without parameters") {
  const LayerNorm layer{root, {3, 4}};
  CHECK(layer.weight.shape() == Shape{3, 4});
  CHECK(layer(Array({2, 3, 4}, Real(1))).shape() == Shape{2, 3, 4});
  CHECK(LayerNorm(root, 4, {.affine = false}).num_parameters() == 0);
  CHECK(LayerNorm(root, 4, {.bias = false}).num_parameters() == 4);
  const LayerNorm bare{root, 2, {.eps = 0, .affine = false}};
  check_close(bare(Array({1, 2}, {1, 2})).value(), Array({1, 2}, {-1, 1}));
}

TEST_CASE("Layer norm refuses bad settings and inputs") {
  CHECK(error_of<ValueError>([] { LayerNorm(root, 0); }) == "LayerNorm: size must be at least 1, got 0");
  CHECK(error_of<ValueError>([] { LayerNorm(root, Shape{}); }) == "layer_norm: no axis to normalise over");
  CHECK(error_of<ValueError>([] { LayerNorm(root, 2, {.eps = -1}); }) ==
        "layer_norm: eps must not be negative, got -1");
  CHECK_THROWS_AS(LayerNorm(root, 3)(Array({2, 2}, Real(0))), ShapeError);
}

TEST_CASE("Gradients of layer norm are those of differences") {
  const LayerNorm layer{root, {3, 4}};
  layer.weight.assign(normal({3, 4}, 3));
  layer.bias.assign(normal({3, 4}, 4));
  check_module_gradients(layer, [&](const Tensors& xs) { return layer(xs[0]); }, {normal({2, 3, 4})});
}

}  // namespace
}  // namespace xgrad::testing
