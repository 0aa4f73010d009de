// Optimizers in float, where squares overflow and few digits are left.
#include "support/check.h"

#include <cmath>
#include <limits>

#include <xgrad/optim/optim.h>

namespace xgrad::testing {
namespace {

TEST_CASE("float: gradients of 1e20, whose squares overflow, are clipped rightly") {
  const Tensor x = variable(Array({2}, Real(0)), "x");
  const auto clipped = optim::clip_grad_norm({Tensor(Array({2}, {3e20f, 4e20f}))}, {x}, 1);
  CHECK(clipped.norm == doctest::Approx(5e20).epsilon(1e-6));
  check_close(clipped.gradients[0].value(), Array({2}, {0.6f, 0.8f}), 1e-6);
  CHECK(optim::clip_grad_norm({Tensor(Array({2}, {3e-30f, 4e-30f}))}, {x}, 1).norm == doctest::Approx(5e-30));
}

TEST_CASE("float: Adam's first step is lr g / (|g| + eps) for gradients from 0 to 1e20") {
  const Tensor x = variable(Array({5}, Real(0)));
  optim::Adam adam{{x}, {.lr = 0.5}};
  const Array g({5}, {3, -2, 0, 1e-30f, 1e20f});
  adam.step({Tensor(g)});
  for (std::int64_t i = 0; i < 4; ++i) {
    const double gi = g.data()[i];
    CHECK(x.value().data()[i] == doctest::Approx(-0.5 * gi / (std::abs(gi) + 1e-8)).epsilon(1e-5));
  }
  CHECK(x.value().data()[4] == doctest::Approx(-0.5).epsilon(1e-5));
}

TEST_CASE("float: a gradient whose square overflows moves its parameter, and does not stop it for good") {
  const Tensor x = variable(Array({1}, Real(0)));
  optim::Adam adam{{x}, {.lr = 1, .betas = {0.9, 0.99}}};
  adam.step({Tensor(Array({1}, 1e30f))});
  CHECK(x.item() < 0);
  CHECK(std::isfinite(x.item()));
  for (int t = 0; t < 15000; ++t) adam.step({Tensor(Array({1}, -1.0f))});
  x.assign(Array({1}, Real(0)));
  adam.step({Tensor(Array({1}, -1.0f))});
  CHECK(x.item() == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("float: Adam's step is the same for gradients whose square overflows as for others") {
  for (const Real scale : {1.0f, 1e15f, 1e19f, 1e25f, 1e30f, 3e38f}) {
    CAPTURE(scale);
    const Tensor x = variable(Array({2}, Real(0)), "x");
    optim::Adam adam{{x}, {.lr = 1e-3}};
    for (int t = 1; t <= 30; ++t) {
      adam.step({Tensor(Array({2}, {scale, -scale}))});
      check_close(x.value(), Array({2}, {-1e-3f * static_cast<Real>(t), 1e-3f * static_cast<Real>(t)}), 1e-5);
    }
    // The other way: a step is never longer than Adam's bound.
    const Real before = x.value().at({0});
    adam.step({Tensor(Array({2}, {-scale, scale}))});
    CHECK(std::abs(x.value().at({0}) - before) < 1e-3f);
  }
}

TEST_CASE("float: with a first beta of 0, Adam's first moment is the gradient, exactly") {
  const Tensor x = variable(Array({3}, Real(0)), "x");
  optim::Adam adam{{x}, {.betas = {0, 0.999}}};
  for (const Array& g : {Array({3}, {1, 1e-7f, -3e15f}), Array({3}, {0.1f, 1e7f, 1e-3f}), Array({3}, {-2, 0, 7})}) {
    adam.step({Tensor(g)});
    CHECK(equal(adam.state_dict().get<Array>("x.exp_avg"), g));
  }
}

TEST_CASE("float: ten steps of Adam stay close to the same steps in double") {
  const Tensor x = variable(1);
  optim::AdamW adam{{x}, {.lr = 0.1, .weight_decay = 0.1}};
  double y = 1, m = 0, v = 0;
  for (int t = 1; t <= 10; ++t) {
    const double g = std::sin(t);
    adam.step({Tensor(static_cast<Real>(g))});
    m += 0.1 * (g - m);
    v = 0.999 * v + 0.001 * g * g;
    y -= 0.1 * 0.1 * y;
    y -= 0.1 / (1 - std::pow(0.9, t)) * m / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
  CHECK(x.item() == doctest::Approx(y).epsilon(1e-5));
}

}  // namespace
}  // namespace xgrad::testing
