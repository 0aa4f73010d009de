// Linear.
#include "../support.h"

#include <cmath>

#include <xgrad/nn/layers/linear.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/products/matmul.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Linear is x W' + b along the last axis") {
  const Linear layer{root, 2, 3};
  layer.weight.assign(Array({3, 2}, {1, 2, 3, 4, 5, 6}));
  layer.bias.assign(Array({3}, {10, 20, 30}));
  CHECK(equal(layer(Array({1, 2, 2}, {1, 0, 0, 1})).value(), Array({1, 2, 3}, {11, 23, 35, 12, 24, 36})));
  CHECK(layer.num_parameters() == 9);
  CHECK(to_string(layer) == "Linear 2 -> 3    9\n  weight [3, 2]  6\n  bias [3]       3\n");
  const Linear plain{root, 2, 3, {.bias = false}};
  CHECK(!plain.bias.defined());
  CHECK(plain.num_parameters() == 6);
  check_close(plain(Array({2}, {1, 2})).value(), matmul(Array({2}, {1, 2}), transpose(plain.weight)).value());
}

TEST_CASE("Linear starts as in PyTorch, uniform within 1/sqrt(in), or as it is told") {
  const Linear layer{root, 400, 300};
  for (const Tensor& parameter : layer.parameters()) {
    Real most = 0;
    for (const Real value : parameter.value()) most = std::max(most, std::abs(value));
    CHECK(most <= Real(0.05));
    CHECK(most > Real(0.048));
  }
  const Linear told{root, 3, 2, {.init = init::ones(), .bias_init = init::zeros()}};
  CHECK(equal(told(Array({3}, {1, 2, 3})).value(), Array({2}, {6, 6})));
}

TEST_CASE("A shared weight is one parameter") {
  struct Tied : Module {
    Linear first{at("first"), 3, 2};
    Linear second{at("second"), 3, 2, {.bias = false, .weight = first.weight}};
  } tied;
  CHECK(tied.num_parameters() == 8);
  CHECK(same(tied.second.weight, tied.first.weight));
  CHECK(error_of<ShapeError>([&] { Linear(root, 2, 3, {.weight = tied.first.weight}); }) ==
        "linear: shared weight of shape [2, 3] for [3, 2]");
}

TEST_CASE("Linear refuses bad sizes and inputs, naming the layer") {
  struct Model : Module {
    Linear head{at("head"), 512, 64};
  } model;
  const std::string message = error_of<ShapeError>([&] { model.head(Array({2, 256}, Real(0))); });
  CHECK(message.find("[2, 256]") != std::string::npos);
  CHECK(message.find("[64, 512]") != std::string::npos);
  CHECK(message.find("\n  in head (Linear 512 -> 64)") != std::string::npos);
  struct Bad : Module {
    Linear head{at("head"), 3, 0};
  };
  CHECK(error_of<ValueError>([] { Bad(); }) ==
        "Linear: out 0 is not positive; is it declared after this layer?\n  in head");
}

}  // namespace
}  // namespace xgrad::testing
