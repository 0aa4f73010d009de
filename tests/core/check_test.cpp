// Tests of the tests: the gradient check finds rules that are wrong.
#include <limits>

#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/reduce/reduce.h>

#include "support/check.h"
#include "support/cube.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("the gradient check finds a wrong factor, a missing term, and a gradient where there is none") {
  const auto factor = [](const Tensor& gy, const Tensor& x) { return gy * 2 * x * x; };
  CHECK_FALSE(wrong_gradients(cube(factor), {normal({2, 3})}).empty());
  const auto nothing = [](const Tensor& gy, const Tensor&) { return gy * 0; };
  CHECK_FALSE(wrong_gradients(cube(nothing), {normal({2, 3})}).empty());
  const auto right = [](const Tensor& gy, const Tensor& x) { return gy * 3 * x * x; };
  CHECK_FALSE(wrong_gradients(cube(right), {normal({2, 3})}, {.zero = true}).empty());
}

TEST_CASE("the gradient check finds a rule that is right but carries no graph") {
  const auto constant = [](const Tensor& gy, const Tensor& x) {
    const NoGrad off;
    return gy.detach() * 3 * x * x;
  };
  CHECK(wrong_gradients(cube(constant), {normal({2, 3})}, {.order = 1}).empty());
  CHECK_FALSE(wrong_gradients(cube(constant), {normal({2, 3})}, {.order = 2}).empty());
}

TEST_CASE("the gradient check finds a wrong rule however small its gradients are") {
  const auto small = [](const Function& f, double size) {
    return Function([f, size](const Tensors& xs) { return f(xs) * static_cast<Real>(size); });
  };
  const Function right = cube([](const Tensor& gy, const Tensor& x) { return gy * 3 * x * x; });
  const Function wrong = cube([](const Tensor& gy, const Tensor& x) { return gy * 3 * x * x * 1.000001; });
  for (const double size : {1.0, 1e-7, 1e-30, 1e30}) {
    CAPTURE(size);
    CHECK(wrong_gradients(small(right, size), {normal({2, 3})}).empty());
    CHECK_FALSE(wrong_gradients(small(wrong, size), {normal({2, 3})}).empty());
  }
  // Among large ones, too: each input's gradient has its own scale.
  const auto both = [&](const Function& f) {
    return Function([g = small(f, 1e-7)](const Tensors& xs) { return g({xs[0]}) + xs[1] * 3; });
  };
  CHECK(wrong_gradients(both(right), {normal({2, 3}), normal({2, 3}, 2)}, {.tolerance = 1e-5}).empty());
  const Function double_rule = cube([](const Tensor& gy, const Tensor& x) { return gy * 6 * x * x; });
  CHECK_FALSE(wrong_gradients(both(double_rule), {normal({2, 3}), normal({2, 3}, 2)}, {.tolerance = 1e-5}).empty());
}

TEST_CASE("a difference is relative to the largest expected element, or to terms that cancel") {
  constexpr Real infinity = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  const auto off = [](const std::vector<Real>& a, const std::vector<Real>& expected, double terms = 0) {
    return difference(Array(a), Array(expected), terms);
  };
  CHECK(off({2e-7, 0}, {1e-7, 0}) == doctest::Approx(1));
  CHECK(off({1e-7, 4}, {2e-7, 4}) == doctest::Approx(2.5e-8));
  CHECK(off({1e9}, {1e9 + 1}) == doctest::Approx(1e-9));
  CHECK(off({0, 0}, {0, 0}) == 0);
  CHECK(off({0, 1e-300}, {0, 0}) == infinity);
  CHECK(off({1}, {1, 1}) == infinity);
  CHECK(off({nan, infinity, -infinity, 1}, {nan, infinity, -infinity, 1}) == 0);
  CHECK(off({nan, infinity, -infinity, 3}, {nan, infinity, -infinity, 2}) == doctest::Approx(0.5));
  CHECK(off({nan}, {1}) == infinity);
  CHECK(off({1}, {nan}) == infinity);
  CHECK(off({infinity, 1}, {1, 1}) == infinity);
  CHECK(off({1, 1}, {infinity, 1}) == infinity);
  CHECK(off({-infinity, 1}, {infinity, 1}) == infinity);
  CHECK(off({1e-17}, {0}, 10) == doctest::Approx(1e-18));
  CHECK(off({21}, {20}, 10) == doctest::Approx(0.05));
}
