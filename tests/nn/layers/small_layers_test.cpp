// Activations by a function of the library, and small layers. That layers are their functions: catalogue_test.cpp.
#include <xgrad/xgrad.h>

#include "../support.h"

namespace xgrad::testing {

TEST_CASE("layers of pooling stand in a Sequential") {
  const nn::Sequential net{nn::root, nn::make<nn::Conv2d>(1, 2, 3),
                           nn::make<nn::MaxPool2d>(2, MaxPool2dOptions{.stride = 1})};
  const Tensor picture = normal({1, 1, 5, 4});
  CHECK(equal(net(picture).value(), max_pool2d(net.get<nn::Conv2d>(0)(picture), 2, {.stride = 1}).value()));
}

TEST_CASE("a function of the library is an activation with its name and the defaults of its options, or none") {
  const Tensor x = tensor({-2, -0.75, 0.25, 0.75, 3});
  const auto check = [&](const nn::Activation& f, const Tensor& expected) {
    CHECK(equal(f(x).value(), expected.value()));
  };
  check(leaky_relu, leaky_relu(x));
  check(hardtanh, hardtanh(x));
  check(mish, mish(x));
  check(gelu, gelu(x));
  check([](const Tensor& v) { return gelu(v, Gelu::tanh); }, gelu(x, Gelu::tanh));
  check(elu, elu(x));
  check(celu, celu(x));
  check(hardshrink, hardshrink(x));
  check(softshrink, softshrink(x));
  CHECK(nn::Function(nn::root, relu).description() == "Function relu");
  CHECK(nn::Function(nn::root, sin).description() == "Function sin");
  CHECK(nn::Activation(log1p).name() == "log1p");
  CHECK(nn::Activation(erf).name() == "erf");
  CHECK(nn::Activation(neg).name() == "neg");
  CHECK(nn::Activation(rsqrt).name() == "rsqrt");
  CHECK(nn::Activation(nan_to_num).name() == "nan_to_num");
  CHECK_REFUSED(ValueError, nn::Activation{pow}, "activation", "no default for the number: write a lambda");
  const auto none = static_cast<Tensor (*)(const Tensor&, double)>(nullptr);
  CHECK_REFUSED(ValueError, nn::Activation{none}, "activation", "the function is empty");
}

TEST_CASE("unflatten refuses sizes of another product") {
  CHECK_REFUSED(ShapeError, unflatten(ones({2, 3}), 1, {2, 2}), "unflatten");
}

TEST_CASE("dropout of channels draws in training only") {
  const Tensor x = normal({2, 3, 4, 2});
  const nn::Dropout2d layer(nn::root, 0.5);
  manual_seed(3);
  const Array drawn = layer(x).value();
  CHECK_FALSE(equal(drawn, x.value()));
  manual_seed(3);
  CHECK(equal(layer(x).value(), drawn));
  const nn::Eval eval(layer);
  CHECK(equal(layer(x).value(), x.value()));
  CHECK_REFUSED(ValueError, nn::Dropout2d(nn::root, 2), "Dropout2d", "p 2 is not in [0, 1]");
}

}  // namespace xgrad::testing
