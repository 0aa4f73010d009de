// Adam and AdamW. Expected numbers are PyTorch's for the same steps, in double.
#include "../support.h"

#include <cmath>
#include <limits>
#include <memory>

namespace xgrad::testing {
namespace {

Array adam(const optim::AdamOptions& options) {
  return after_three_steps([&](const Tensors& xs) { return std::make_unique<optim::Adam>(xs, options); });
}

Array adamw(const optim::AdamWOptions& options) {
  return after_three_steps([&](const Tensors& xs) { return std::make_unique<optim::AdamW>(xs, options); });
}

TEST_CASE("Adam makes PyTorch's steps") {
  check_close(adam({.lr = 0.1}), Array({3}, {0.7504159045281114, -1.8997899759443955, 2.9648959681351608}));
  check_close(adam({.lr = 0.1, .betas = {0.8, 0.95}, .eps = 1e-3, .weight_decay = 0.2}),
              Array({3}, {0.7323909320412221, -1.852105452629851, 2.9324800706548215}));
}

TEST_CASE("AdamW makes PyTorch's steps") {
  check_close(adamw({.lr = 0.1}), Array({3}, {0.7477120214856359, -1.894010325995921, 2.9560682547815733}));
  check_close(adamw({.lr = 0.1, .betas = {0, 0.95}, .eps = 1e-3, .weight_decay = 0.2}),
              Array({3}, {0.8214257037528913, -1.9308409279646843, 2.8505250744315123}));
}

TEST_CASE("Adam refuses options outside their range") {
  const auto refusal = [](const optim::AdamOptions& options) { return error_of<ValueError>([&] { adam(options); }); };
  CHECK(refusal({.lr = -0.5}) == "adam: lr -0.5 is negative or not finite");
  CHECK(refusal({.lr = std::nan("")}) == "adam: lr nan is negative or not finite");
  CHECK(refusal({.betas = {1, 0.5}}) == "adam: betas[0] 1 is not in [0, 1)");
  CHECK(refusal({.betas = {0.5, -0.1}}) == "adam: betas[1] -0.1 is not in [0, 1)");
  CHECK(refusal({.eps = -1e-8}) == "adam: eps -1e-08 is negative or not finite");
  CHECK(error_of<ValueError>([] { adamw({.weight_decay = -1}); }) ==
        "adamw: weight_decay -1 is negative or not finite");
}

TEST_CASE("Adam's first step is lr g / (|g| + eps), for small and huge gradients, too") {
  const Tensor x = variable(Array({5}, Real(0)));
  optim::Adam adam{{x}, {.lr = 0.5, .eps = 1e-8}};
  const std::vector<double> g{3, -2, 0, 1e-30, 1e20};
  adam.step({Array({5}, std::vector<Real>(g.begin(), g.end()))});
  for (std::size_t i = 0; i < g.size(); ++i) {
    CHECK(x.value().data()[i] == doctest::Approx(-0.5 * g[i] / (std::abs(g[i]) + 1e-8)).epsilon(1e-12));
  }
}

TEST_CASE("With a first beta of 0, the first moment is the gradient, exactly") {
  const Tensor x = variable(normal({50}), "x");
  optim::Adam adam{{x}, {.lr = 0.1, .betas = {0, 0.999}}};
  for (std::uint64_t t = 1; t <= 20; ++t) {
    Array g = normal({50}, t);
    g.mutable_data()[0] = t % 2 == 0 ? Real(1e100) : Real(-1e-3);
    adam.step({g});
    CHECK(equal(adam.state_dict().get<Array>("x.exp_avg"), g));
  }
}

TEST_CASE("Adam's step is the same for gradients whose square overflows as for others") {
  for (const Real scale : {1e-100, 1., 1e100, 1e160, 1e300}) {
    CAPTURE(scale);
    const Tensor x = variable(Array({2}, Real(0)));
    optim::Adam adam{{x}, {.lr = 0.5, .eps = 0}};
    for (int t = 1; t <= 30; ++t) {
      adam.step({Array({2}, {scale, -scale})});
      check_close(x.value(), Array({2}, {-0.5 * t, 0.5 * t}), 1e-9);
    }
  }
}

TEST_CASE("A gradient that is not finite makes the parameter NaN, as in PyTorch") {
  for (const double b1 : {0., 0.3, 0.9}) {
    for (const Real bad : {std::numeric_limits<Real>::infinity(), -std::numeric_limits<Real>::infinity(),
                           std::numeric_limits<Real>::quiet_NaN()}) {
      const Tensor x = variable(Array({3}, Real(1)));
      optim::AdamW adam{{x}, {.betas = {b1, 0.9}}};
      adam.step({Array({3}, {1, bad, 1})});
      CHECK(std::isfinite(x.value().at({0})));
      CHECK(std::isnan(x.value().at({1})));
    }
  }
}

TEST_CASE("A gradient whose square overflows does not stop Adam for good") {
  const Tensor x = variable(Array({1}, Real(0)));
  optim::Adam adam{{x}, {.lr = 1, .betas = {0.5, 0.5}}};
  adam.step({Array({1}, std::numeric_limits<Real>::max() / 4)});
  CHECK(std::isfinite(x.item()));
  CHECK(x.item() < 0);
  for (int i = 0; i < 5000; ++i) adam.step({Array({1}, Real(-1))});
  x.assign(Array({1}, Real(0)));
  adam.step({Array({1}, Real(-1))});
  CHECK(x.item() == doctest::Approx(1).epsilon(1e-6));
}

TEST_CASE("Adam's bias correction stays 1 when the count of steps is beyond 2^31") {
  const Tensor x = variable(Array({1}, Real(0)), "x");
  optim::Adam adam{{x}, {.lr = 1, .betas = {0.5, 0.5}, .eps = 0}};
  adam.step({Array({1}, Real(2))});
  StateFile state = adam.state_dict();
  state.arrays["x.step"] = Index({}, (std::int64_t{1} << 31) + 5);
  adam.load_state_dict(state);
  const Real before = x.item();
  adam.step({Array({1}, Real(2))});
  // m = 1/2 1 + 1/2 2, v = 1/2 2 + 1/2 4
  CHECK(before - x.item() == doctest::Approx(1.5 / std::sqrt(3.0)).epsilon(1e-12));
  CHECK(std::get<Index>(adam.state_dict().arrays.at("x.step")).item() == (std::int64_t{1} << 31) + 6);
}

TEST_CASE("A number's step does not depend on where in the array it stands") {
  for (const std::int64_t n : {1, 7, 16, 17, 33}) {
    const Tensor x = variable(Array({n}, Real(0.3)));
    optim::AdamW adam{{x}, {.lr = 0.1}};
    for (int t = 0; t < 3; ++t) adam.step({Array({n}, Real(0.7))});
    for (const Real value : x.value()) CHECK(value == x.value().data()[0]);
  }
}

}  // namespace
}  // namespace xgrad::testing
