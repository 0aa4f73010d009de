// Lambdas of elementwise(): what may stand in them means the same on registers, on tensors and on probes.
#include <cmath>

#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// (1 + x^2)^-1.5
Tensor bump(const Tensor& x) {
  return elementwise(
      "bump", x, [](auto v) { return pow(1 + v * v, -1.5); },
      [](auto v, auto) { return -3 * v * pow(1 + v * v, -2.5); });
}

Tensor raised(const Tensor& a, const Tensor& b) {
  return elementwise(
      "raised", a, b, [](auto p, auto q) { return pow(p, q); }, [](auto p, auto q, auto) { return q * pow(p, q - 1); },
      [](auto p, auto, auto y) { return y * log(p); });
}

}  // namespace

TEST_CASE("powers in a lambda are those of the C library, with gradients of two orders") {
  const Array x = normal({3, 11});
  Array expected(x.shape());
  for (std::int64_t i = 0; i < x.size(); ++i) {
    expected.mutable_data()[i] = std::pow(1 + x.data()[i] * x.data()[i], -1.5);
  }
  check_close(bump(x).value(), expected, 1e-15);
  check_gradients([](const Tensors& t) { return bump(t[0]); }, {x});

  const Array base = uniform({2, 5}, 0.2, 3), exponent = normal({5}, 2);
  check_close(raised(base, exponent).value(), pow(Tensor(base), Tensor(exponent)).value(), 1e-15);
  check_gradients([](const Tensors& t) { return raised(t[0], t[1]); }, {base, exponent});
  CHECK(raised(Tensor(0), Tensor(0)).item() == 1);
  CHECK(raised(Tensor(-2), Tensor(3)).item() == -8);
}

TEST_CASE("a rule with powers or signs keeps just the values that these depend on") {
  const auto power = [](auto v, auto) { return pow(v, 2.5); };
  const auto exponential = [](auto, auto y) { return pow(2, y); };
  const auto sign_of = [](auto v, auto y) { return sign(v) * y; };
  static_assert(detail::dependencies<decltype(power), 1>() == 1);
  static_assert(detail::dependencies<decltype(exponential), 1>() == 2);
  static_assert(detail::dependencies<decltype(sign_of), 1>() == 3);
  const Tensor x = variable(normal({7}));
  const Tensor y = elementwise(
      "signed_root", x, [](auto v) { return sign(v) * pow(abs(v), 0.5); },
      [](auto v, auto) { return 0.5 * pow(abs(v), -0.5); });
  const Array slope = grad(sum(y), {x})[0].value();
  for (std::int64_t i = 0; i < 7; ++i) {
    const double v = x.value().data()[i];
    CHECK(y.value().data()[i] == doctest::Approx(std::copysign(std::sqrt(std::abs(v)), v)).epsilon(1e-15));
    CHECK(slope.data()[i] == doctest::Approx(0.5 / std::sqrt(std::abs(v))).epsilon(1e-14));
  }
}
