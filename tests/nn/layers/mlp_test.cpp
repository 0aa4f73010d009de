// Mlp and its activations.
#include "../support.h"

#include <xgrad/nn/layers/mlp.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Mlp is two linear maps with an activation in between") {
  const Mlp mlp{root, {.in = 2, .hidden = 3, .out = 1}};
  mlp.fc1.weight.assign(Array({3, 2}, {1, 0, 0, 1, -1, -1}));
  mlp.fc1.bias.assign(Array({3}, Real(0)));
  mlp.fc2.weight.assign(Array({1, 3}, {1, 10, 100}));
  mlp.fc2.bias.assign(Array({1}, Real(1000)));
  CHECK(equal(mlp(Array({2, 2}, {1, 2, -1, -2})).value(), Array({2, 1}, {1021, 1300})));
  CHECK(to_string(mlp) ==
        "Mlp 2 -> 3 -> 1       13\n"
        "  fc1: Linear 2 -> 3   9\n"
        "    weight [3, 2]      6\n"
        "    bias [3]           3\n"
        "  fc2: Linear 3 -> 1   4\n"
        "    weight [1, 3]      3\n"
        "    bias [1]           1\n"
        "  dropout: Dropout 0\n");
  CHECK(Mlp(root, {.in = 2, .hidden = 3, .bias = false}).num_parameters() == 12);
}

TEST_CASE("An activation is a function by its name, or a lambda") {
  const Tensor x(Array({3}, {-1, 0, 2}));
  const auto check = [&](const Activation& f, const Tensor& expected) { check_close(f(x).value(), expected.value()); };
  check(relu, relu(x));
  check(gelu, gelu(x));
  check(elu, elu(x));
  check(tanh, tanh(x));
  check([](const Tensor& v) { return gelu(v, Gelu::tanh); }, gelu(x, Gelu::tanh));
}

TEST_CASE("Mlp prints as nn/module.h shows") {
  CHECK(to_string(Mlp{root, {.in = 4, .hidden = 8, .out = 2}}) ==
        "Mlp 4 -> 8 -> 2       58\n"
        "  fc1: Linear 4 -> 8  40\n"
        "    weight [8, 4]     32\n"
        "    bias [8]           8\n"
        "  fc2: Linear 8 -> 2  18\n"
        "    weight [2, 8]     16\n"
        "    bias [2]           2\n"
        "  dropout: Dropout 0\n");
}

TEST_CASE("Mlp drops twice in training, never otherwise") {
  const Mlp mlp{root, {.in = 4, .hidden = 8, .dropout = 0.5}};
  const Tensor x(normal({3, 4}));
  CHECK(!equal(mlp(x).value(), mlp(x).value()));
  const Eval eval(mlp);
  CHECK(equal(mlp(x).value(), mlp(x).value()));
}

}  // namespace
}  // namespace xgrad::testing
