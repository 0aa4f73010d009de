// Adam and AdamW: what fixtures do not show. Their steps are held against PyTorch's in optimizer_fixtures_test.cpp.
#include "../support.h"

#include <cmath>
#include <limits>

namespace xgrad::testing {
namespace {

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
