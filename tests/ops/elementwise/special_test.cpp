// Special functions: identities, limits, gradients against differences, and bad inputs. (PyTorch's numbers:
// operation_fixtures_test.cpp.)
#include <cmath>
#include <numbers>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("functions of the gamma family have their closed forms") {
  constexpr double euler = 0.57721566490153286060651209, pi = std::numbers::pi;
  CHECK(lgamma(Tensor(0.5)).item() == doctest::Approx(std::log(std::sqrt(pi))).epsilon(1e-15));
  CHECK(digamma(1).item() == doctest::Approx(-euler).epsilon(1e-15));
  CHECK(digamma(0.5).item() == doctest::Approx(-euler - 2 * std::numbers::ln2).epsilon(1e-15));
  const auto slope = [](const Tensor& y, const Tensor& x) { return grad(sum(y), {x}, {.create_graph = true})[0]; };
  const auto trigamma = [slope](Real at) {
    const Tensor x = variable(at);
    return slope(digamma(x), x).item();
  };
  CHECK(trigamma(1) == doctest::Approx(pi * pi / 6).epsilon(1e-15));
  CHECK(trigamma(0.5) == doctest::Approx(pi * pi / 2).epsilon(1e-15));
  CHECK(trigamma(infinity) == 0);
  CHECK(trigamma(-2) == infinity);
  CHECK(std::isnan(digamma(-2).item()));
  CHECK(std::isnan(trigamma(not_a_number)));
  const Tensor x = variable(uniform({40}, -6, 6)), next = variable((x.detach() + 1).value());
  Tensor y = digamma(x), y_next = digamma(next);
  for (int n = 1; n < 5; ++n) {  // psi_n(x + 1) = psi_n(x) + (-1)^n n! x^(-n - 1)
    const Real sign = n % 2 == 0 ? 1 : -1, factorial = static_cast<Real>(std::tgamma(n + 1));
    y = slope(y, x), y_next = slope(y_next, next);
    const Tensor ratio = (y + sign * factorial * pow(x, static_cast<Real>(-n - 1))) / y_next;
    check_close(ratio.value(), Array({40}, Real(1)), 1e-9);
  }
}

TEST_CASE("special functions have the gradients of differences, to the second order") {
  for (Tensor (*f)(const Tensor&) : {lgamma, digamma}) {
    check_gradients(function_of_one(f), {uniform({3, 4}, 0.3, 4)}, {.tolerance = 1e-6});
  }
  check_gradients(function_of_one(lgamma), {uniform({5}, -2.8, -2.2)}, {.tolerance = 1e-6});
  check_gradients(function_of_one(digamma), {uniform({5}, 1, 4)}, {.order = 3, .tolerance = 1e-6});
  check_gradients([](const Tensors& x) { return hardshrink(x[0], 0.2); }, {uniform({3, 4}, 0.3, 2)});
  check_gradients([](const Tensors& x) { return softshrink(x[0], 0.2); }, {uniform({3, 4}, -2, -0.3)});
  check_gradients([](const Tensors& x) { return rrelu(x[0], {}, {.seed = 3}); }, {uniform({3, 4}, -2, -0.3)});
}

TEST_CASE("limits of special functions are seen, and what is undefined is NaN") {
  CHECK(std::isnan(softshrink(not_a_number).item()));
  const Tensor x = uniform({1000}, -3, 3);
  const Tensor slopes = rrelu(x) / x;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Real slope = slopes.value().data()[i];
    if (x.value().data()[i] >= 0) CHECK(slope == 1);
    if (x.value().data()[i] < 0) CHECK((slope >= 0.125 && slope <= Real(1) / 3));
  }
}

TEST_CASE("special functions refuse bad settings") {
  const Tensor x = zeros({2, 3});
  CHECK(error_of<ValueError>([&] { hardshrink(x, -1); }) == "hardshrink: lambda -1 is negative or NaN");
  CHECK(error_of<ValueError>([&] { softshrink(x, not_a_number); }) == "softshrink: lambda nan is negative or NaN");
  CHECK(error_of<ValueError>([&] { rrelu(x, {.lower = 1, .upper = 0}); }) == "rrelu: slopes from 1 to 0");
}

TEST_CASE("whole numbers: bits") {
  const auto one = [](std::int64_t v) { return Index(Shape{}, v); };
  CHECK((one(12) & 10).item() == 8);
  CHECK((one(12) | 10).item() == 14);
  CHECK((one(12) ^ 10).item() == 6);
  CHECK(error_of<ShapeError>([&] { index({1, 2}) & index({1, 2, 3}); }).find("bitwise_and: ") == 0);
}
