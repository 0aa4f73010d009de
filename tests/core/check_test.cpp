// Tests of the tests: the gradient check finds rules that are wrong.
#include <xgrad/core/grad.h>
#include <xgrad/ops/arithmetic.h>
#include <xgrad/ops/elementwise.h>
#include <xgrad/ops/reduce.h>

#include "support/check.h"
#include "support/cube.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("the gradient check accepts a right rule") {
  const auto right = [](const Tensor& gy, const Tensor& x) { return gy * 3 * x * x; };
  CHECK(wrong_gradients(cube(right), {normal({2, 3})}, {.order = 3}).empty());
}

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

TEST_CASE("the gradient check accepts a second derivative of zero that carries no graph") {
  const Function linear = [](const Tensors& xs) { return xs[0] * 3; };
  CHECK(wrong_gradients(linear, {normal({2, 3})}, {.order = 2}).empty());
}
