// Optimizers at the ends of the range of a number type, in double and in float.
#include "support/check.h"

#include <cmath>
#include <limits>

#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

constexpr Real huge = std::numeric_limits<Real>::max() / 4, root = sizeof(Real) == 4 ? Real(1e20) : Real(1e160);

TEST_CASE("Adam's first step is lr g / (|g| + eps), for small and huge gradients, too") {
  const Tensor x = variable(Array({6}, Real(0)));
  optim::Adam adam{{x}, {.lr = 0.5, .eps = 1e-8}};
  const Array g({6}, {3, -2, 0, Real(1e-30), root, huge});
  adam.step({g});
  for (std::int64_t i = 0; i < g.size(); ++i) {
    const double gi = g.data()[i];
    CHECK(x.value().data()[i] == doctest::Approx(-0.5 * gi / (std::abs(gi) + 1e-8)).epsilon(1e-5));
  }
}

TEST_CASE("With a first beta of 0, Adam's first moment is the gradient, exactly") {
  const Tensor x = variable(normal({50}), "x");
  optim::Adam adam{{x}, {.lr = 0.1, .betas = {0, 0.999}}};
  for (std::uint64_t t = 1; t <= 20; ++t) {
    Array g = normal({50}, t);
    g.mutable_data()[0] = t % 2 == 0 ? std::sqrt(root) : Real(-1e-3);
    adam.step({g});
    CHECK(equal(adam.state_dict().get<Array>("x.exp_avg"), g));
  }
}

TEST_CASE("Adam's step is the same for gradients whose square overflows as for others, and never beyond its bound") {
  for (const Real scale : {1 / std::sqrt(root), Real(1), std::sqrt(root), root, huge}) {
    CAPTURE(scale);
    const Tensor x = variable(Array({2}, Real(0)));
    optim::Adam adam{{x}, {.lr = 0.5, .eps = 0}};
    for (int t = 1; t <= 30; ++t) {
      adam.step({Array({2}, {scale, -scale})});
      check_close(x.value(), Array({2}, {Real(-0.5 * t), Real(0.5 * t)}), sizeof(Real) == 4 ? 1e-5 : 1e-9);
    }
    const Real before = x.value().at({0});
    adam.step({Array({2}, {-scale, scale})});
    CHECK(std::abs(x.value().at({0}) - before) < 0.5);
  }
}

// The first step of an optimizer from 0, whose options have eps 0 and averages that take half of a new number.
template <class Optimizer>
Real first_step(Real g, const typename Optimizer::Options& options) {
  const Tensor x = variable(Array({1}, Real(0)));
  Optimizer({x}, options).step({Array({1}, g)});
  return x.item();
}

TEST_CASE("Without eps the first step is the same for every gradient, also for one whose square is subnormal") {
  for (const Real g : {Real(1), sizeof(Real) == 4 ? Real(0x1p-70) : Real(0x1p-530)}) {
    CAPTURE(g);
    CHECK(first_step<optim::Adam>(g, {.lr = 0.5, .betas = {0, 0.5}, .eps = 0}) == doctest::Approx(-0.5));
    CHECK(first_step<optim::Adam>(g, {.lr = 0.5, .betas = {0, 0.5}, .eps = 0, .amsgrad = true}) ==
          doctest::Approx(-0.5));
    CHECK(first_step<optim::RMSprop>(g, {.lr = 0.5, .alpha = 0.5, .eps = 0}) == doctest::Approx(-std::sqrt(0.5)));
    CHECK(first_step<optim::RMSprop>(g, {.lr = 0.5, .alpha = 0.5, .eps = 0, .centered = true}) == doctest::Approx(-1));
    CHECK(first_step<optim::Adagrad>(g, {.lr = 0.5, .eps = 0}) == doctest::Approx(-0.5));
    CHECK(first_step<optim::Adadelta>(g, {.lr = 0.5, .rho = 0.5, .eps = 0}) == 0);  // its steps begin with eps
  }
}

TEST_CASE("A gradient whose square overflows moves its parameter, and does not stop Adam for good") {
  const Tensor x = variable(Array({1}, Real(0)));
  optim::Adam adam{{x}, {.lr = 1, .betas = {0.5, 0.5}}};
  adam.step({Array({1}, huge)});
  CHECK(std::isfinite(x.item()));
  CHECK(x.item() < 0);
  for (int t = 0; t < 5000; ++t) adam.step({Array({1}, Real(-1))});
  x.assign(Array({1}, Real(0)));
  adam.step({Array({1}, Real(-1))});
  CHECK(x.item() == doctest::Approx(1).epsilon(1e-4));
}

}  // namespace
}  // namespace xgrad::testing
