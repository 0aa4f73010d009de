// Convolutional layers: results, parameters, errors.
#include "../support.h"

#include <cmath>

#include <xgrad/nn/layers/conv.h>

namespace xgrad::testing {
namespace {

using namespace nn;

struct Net : Module {
  Conv1d one{at("one"), 4, 6, 3, {.stride = 2, .padding = same_padding, .groups = 2}};
  Conv2d two{at("two"), 3, 8, {3, 2}, {.stride = 2, .padding = {1, 0}}};
  ConvTranspose2d back{at("back"), 8, 6, 3, {.stride = {2, 1}, .output_padding = {1, 0}, .groups = 2, .bias = false}};

  explicit Net(At here) : Module(std::move(here)) {}
};

}  // namespace

TEST_CASE("Convolutional layers compute their operations, and print what they are") {
  const Net net{root};
  const Tensor image = normal({2, 3, 7, 6});
  CHECK(equal(net.two(image).value(),
              conv2d(image, net.two.weight, net.two.bias, {.stride = 2, .padding = {1, 0}}).value()));
  const Tensor h = net.two(image);
  CHECK(equal(
      net.back(h).value(),
      conv_transpose2d(h, net.back.weight, {}, {.stride = {2, 1}, .output_padding = {1, 0}, .groups = 2}).value()));
  CHECK(error_of<ValueError>([&] { net.one(normal({2, 4, 9})); }).starts_with("conv1d: same_padding needs stride 1"));
  const std::string text = to_string(net);
  CHECK(text.find("4 -> 6, kernel 3, stride 2, padding same, 2 groups") != std::string::npos);
  CHECK(text.find("3 -> 8, kernel 3 x 2, stride 2, padding 1 x 0") != std::string::npos);
  CHECK(text.find("8 -> 6, kernel 3, stride 2 x 1, 2 groups") != std::string::npos);
}

TEST_CASE("Convolutional layers have PyTorch's names, shapes and first weights") {
  const Net net{root};
  const auto shapes = [&] {
    std::string all;
    for (const Tensor& p : net.parameters()) all += cat(p.name(), " ", p.shape(), "\n");
    return all;
  }();
  CHECK(shapes ==
        "one.weight [6, 2, 3]\none.bias [6]\ntwo.weight [8, 3, 3, 2]\ntwo.bias [8]\nback.weight [8, 3, 3, 3]\n");
  const Conv2d wide(root, 64, 64, 3, {.groups = 2});
  const double bound = 1 / std::sqrt(32 * 9.0), deviation = bound / std::sqrt(3.0);
  for (const Tensor& p : wide.parameters()) {
    for (const Real value : p.value()) CHECK(std::abs(value) <= bound);
  }
  double squares = 0;
  for (const Real value : wide.weight.value()) squares += static_cast<double>(value * value);
  CHECK(std::sqrt(squares / static_cast<double>(wide.weight.size())) == doctest::Approx(deviation).epsilon(0.02));
  const Conv2d ones(root, 1, 1, 2, {.init = init::ones(), .bias_init = init::zeros()});
  CHECK(equal(ones(Array(Shape{1, 1, 2, 2}, Real(1))).value(), Array({1, 1, 1, 1}, {4})));
}

TEST_CASE("Convolutional layers refuse sizes that make no layer") {
  check_refused<ValueError>({
      {[] { Conv2d(root, 0, 1, 3); }, {"Conv2d: in 0"}},
      {[] { Conv2d(root, 1, 0, 3); }, {"Conv2d: out 0"}},
      {[] { Conv2d(root, 1, 1, {3, 0}); }, {"Conv2d: kernel 0"}},
      {[] { Conv2d(root, 3, 4, 3, {.groups = 2}); }, {"conv: in 3 cannot be divided into 2 groups"}},
      {[] { Conv1d(root, 4, 3, 3, {.groups = 2}); }, {"conv: out 3 cannot be divided into 2 groups"}},
      {[] { ConvTranspose2d(root, 4, 4, 3, {.groups = 0}); }, {"conv: in 4 cannot be divided into 0 groups"}}
  });
}

}  // namespace xgrad::testing
