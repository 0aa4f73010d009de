// Special functions: identities, limits, gradients against differences, and bad inputs. (PyTorch's numbers:
// operation_fixtures_test.cpp.)
#include <cmath>
#include <limits>
#include <numbers>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

Function function_of_two(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Tensors& x) { return f(x[0], x[1]); };
}

}  // namespace

TEST_CASE("functions of the gamma family have their closed forms") {
  constexpr double euler = 0.57721566490153286060651209, pi = std::numbers::pi;
  CHECK(lgamma(Tensor(0.5)).item() == doctest::Approx(std::log(std::sqrt(pi))).epsilon(1e-15));
  CHECK(digamma(1).item() == doctest::Approx(-euler).epsilon(1e-15));
  CHECK(digamma(0.5).item() == doctest::Approx(-euler - 2 * std::numbers::ln2).epsilon(1e-15));
  CHECK(polygamma(1, 1).item() == doctest::Approx(pi * pi / 6).epsilon(1e-15));
  CHECK(polygamma(1, 0.5).item() == doctest::Approx(pi * pi / 2).epsilon(1e-15));
  CHECK(polygamma(3, 1).item() == doctest::Approx(std::pow(pi, 4) / 15).epsilon(1e-15));
  const Tensor x = uniform({40}, -6, 6);
  for (int n = 1; n < 5; ++n) {  // psi_n(x + 1) = psi_n(x) + (-1)^n n! x^(-n - 1)
    const Real sign = n % 2 == 0 ? 1 : -1, factorial = static_cast<Real>(std::tgamma(n + 1));
    const Tensor ratio = (polygamma(n, x) + sign * factorial * pow(x, static_cast<Real>(-n - 1))) / polygamma(n, x + 1);
    check_close(ratio.value(), Array({40}, Real(1)), 1e-9);
  }
  CHECK(polygamma(0, 2.5).item() == digamma(2.5).item());
  CHECK(polygamma(1, infinity).item() == 0);
  CHECK(polygamma(1, -2).item() == infinity);
  CHECK(std::isnan(digamma(-2).item()));
  CHECK(std::isnan(polygamma(2, not_a_number).item()));
}

TEST_CASE("erfinv takes erf back, and Bessel functions have their series and their growth") {
  const Tensor y = linspace(-5, 5, 101);
  const Tensor x = erf(y);
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const double back = std::erf(erfinv(x.value().data()[i]).item());
    CHECK(back == doctest::Approx(x.value().data()[i]).epsilon(1e-15));
  }
  CHECK(erfinv(1e-300).item() == doctest::Approx(1e-300 * std::sqrt(std::numbers::pi) / 2).epsilon(1e-15));
  CHECK(i0(0).item() == 1);
  CHECK(i1(0).item() == 0);
  CHECK(i0(1).item() == doctest::Approx(1.2660658777520083356).epsilon(1e-15));
  CHECK(i1(-2).item() == doctest::Approx(-1.5906368546373290634).epsilon(1e-15));
  CHECK(i0(29.999999).item() == doctest::Approx(i0(30.000001).item() * (1 - 2e-6)).epsilon(1e-7));
  CHECK(i0(infinity).item() == infinity);
  CHECK(std::isnan(i0(not_a_number).item()));
}

TEST_CASE("special functions have the gradients of differences, to the second order") {
  for (Tensor (*f)(const Tensor&) : {lgamma, digamma, i0, i1, sinc}) {
    check_gradients(function_of_one(f), {uniform({3, 4}, 0.3, 4)}, {.tolerance = 1e-6});
  }
  check_gradients(function_of_one(lgamma), {uniform({5}, -2.8, -2.2)}, {.tolerance = 1e-6});
  check_gradients([](const Tensors& x) { return polygamma(2, x[0]); }, {uniform({5}, 1, 4)}, {.tolerance = 1e-6});
  check_gradients(function_of_one(erfinv), {uniform({3, 4}, -0.8, 0.8)}, {.tolerance = 1e-6});
  check_gradients(function_of_one(sinc), {uniform({7}, -0.3, 0.3)});
  check_gradients(function_of_one(i1), {uniform({7}, -0.5, 0.5)});
  check_gradients([](const Tensors& x) { return hardshrink(x[0], 0.2); }, {uniform({3, 4}, 0.3, 2)});
  check_gradients([](const Tensors& x) { return softshrink(x[0], 0.2); }, {uniform({3, 4}, -2, -0.3)});
  check_gradients([](const Tensors& x) { return rrelu(x[0], {}, {.seed = 3}); }, {uniform({3, 4}, -2, -0.3)});
  check_gradients(function_of_two(xlogy), {normal({3, 4}), uniform({4}, 0.3, 3)});
  check_gradients(function_of_two(logaddexp2), {normal({3, 1}), normal({4}, 2)});
  check_gradients(function_of_two(fmax), {uniform({3, 4}, 0, 1), uniform({4}, 2, 3)});
  check_gradients(function_of_two(fmin), {uniform({3, 4}, 0, 1), uniform({4}, 2, 3)});
  check_gradients([](const Tensors& x) { return copysign(x[0], tensor({-1, 1, -2})); }, {uniform({2, 3}, 0.5, 2)});
  check_gradients([](const Tensors& x) { return heaviside(tensor({0, 1, 0, -2}), x[0]); }, {normal({4})});
  check_gradients([](const Tensors& x) { return ldexp(x[0], index({{-1}, {3}})); }, {normal({3})});
}

TEST_CASE("limits of special functions are seen, and what is undefined is NaN") {
  CHECK(std::isnan(heaviside(not_a_number, 1).item()));
  CHECK(heaviside(0, 0.25).item() == 0.25);
  CHECK(xlogy(0, 0).item() == 0);
  CHECK(std::isnan(xlogy(0, not_a_number).item()));
  CHECK(fmax(Tensor(not_a_number), 2).item() == 2);
  CHECK(std::signbit(copysign(Tensor(not_a_number), -1).item()));
  CHECK(ldexp(1, index({5000})).value().data()[0] == infinity);
  CHECK(ldexp(1, index({-5000})).value().data()[0] == 0);
  CHECK(logaddexp2(-infinity, -infinity).item() == -infinity);
  CHECK(std::isnan(softshrink(not_a_number).item()));
  const Tensor x = uniform({1000}, -3, 3);
  const Tensor slopes = rrelu(x) / x;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Real slope = slopes.value().data()[i];
    if (x.value().data()[i] >= 0) CHECK(slope == 1);
    if (x.value().data()[i] < 0) CHECK((slope >= 0.125 && slope <= Real(1) / 3));
  }
}

TEST_CASE("special functions refuse bad settings and shapes") {
  const Tensor x = zeros({2, 3});
  CHECK(error_of<ValueError>([&] { polygamma(-1, x); }) == "polygamma: negative order -1");
  CHECK(error_of<ValueError>([&] { hardshrink(x, -1); }) == "hardshrink: lambda -1 is negative or NaN");
  CHECK(error_of<ValueError>([&] { softshrink(x, not_a_number); }) == "softshrink: lambda nan is negative or NaN");
  CHECK(error_of<ValueError>([&] { rrelu(x, {.lower = 1, .upper = 0}); }) == "rrelu: slopes from 1 to 0");
  for (const auto& f :
       {function_of_two(xlogy), function_of_two(fmax), function_of_two(fmin), function_of_two(copysign), function_of_two(heaviside), function_of_two(logaddexp2)}) {
    CHECK(error_of<ShapeError>([&] { f({x, zeros({2})}); }).find("[2, 3]") != std::string::npos);
  }
  CHECK(error_of<ShapeError>([&] { ldexp(x, index({1, 2})); }).find("ldexp: ") == 0);
}

TEST_CASE("whole numbers: divisors, multiples and bits at their edges") {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const auto one = [](std::int64_t v) { return Index(Shape{}, v); };
  CHECK(gcd(one(0), one(0)).item() == 0);
  CHECK(gcd(one(-12), one(18)).item() == 6);
  CHECK(gcd(one(least), one(-1)).item() == 1);
  CHECK(lcm(one(4), one(-6)).item() == 12);
  CHECK(lcm(one(0), one(5)).item() == 0);
  CHECK((one(-7) >> 1).item() == -4);
  CHECK((one(5) << 3).item() == 40);
  CHECK((one(12) & 10).item() == 8);
  CHECK((one(12) | 10).item() == 14);
  CHECK((one(12) ^ 10).item() == 6);
  CHECK(error_of<LimitError>([&] { gcd(one(least), one(0)); }) == "gcd: 2^63 does not fit 64 bits");
  CHECK(error_of<LimitError>([&] {
          lcm(one(std::int64_t{1} << 40), one((std::int64_t{1} << 40) - 1));
        }).find("lcm: ") == 0);
  CHECK(error_of<LimitError>([&] { one(3) << 62; }) ==
        "bitwise_left_shift: the result for 3 and 62 does not fit 64 bits");
  CHECK(error_of<ValueError>([&] { one(3) << 64; }) == "bitwise_left_shift: shift by 64 is not in [0, 64)");
  CHECK(error_of<ValueError>([&] { one(3) >> -1; }) == "bitwise_right_shift: shift by -1 is not in [0, 64)");
  CHECK(error_of<ShapeError>([&] { index({1, 2}) & index({1, 2, 3}); }).find("bitwise_and: ") == 0);
}
