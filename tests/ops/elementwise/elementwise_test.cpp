// Functions of one tensor at all shapes, where, clamp. (Values and gradients: elementwise_fixtures_test.cpp,
// smooth_fixtures_test.cpp and numerics_test.cpp.)
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("functions of all shapes keep them, and what they give does not depend on the place in a register") {
  for (const Shape& shape : {Shape{}, {0}, {1}, {7}, {8}, {17}, {33}, {3, 5}, {2, 0, 3}, {2, 1, 3, 5}}) {
    const Array x = uniform(shape, 0.1, 2, 5);
    for (Tensor (*f)(const Tensor&) : {exp, expm1, log, log1p, sqrt, rsqrt, square, abs, sign, sin, cos, tanh, erf,
                                       sigmoid, relu, softplus, silu, neg}) {
      const Array y = f(x).value();
      CHECK(y.shape() == shape);
      for (std::int64_t i = 0; i < x.size(); ++i) {
        CHECK(y.data()[i] == doctest::Approx(f(x.data()[i]).item()).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("where takes from either side and sends the gradient there only") {
  const Mask mask(Shape{2, 3}, {true, false, true, false, false, true});
  const Tensor a = tensor({{1, 2, 3}, {4, 5, 6}}), b = tensor({-1, -2, -3});
  check_close(where(mask, a, b).value(), tensor({{1, -2, 3}, {-1, -2, 6}}).value());
  check_gradients([&](const Tensors& x) { return square(where(mask, x[0], x[0])); }, {normal({2, 3})});

  const Tensor x = variable(Array(Shape{2}, {0, 4}));
  const Tensor safe = where(x > 0, log(where(x > 0, x, 1)), 0);  // the usual way to keep NaN out of both branches
  check_close(grad(sum(safe), {x})[0].value(), tensor({0, 0.25}).value());
  CHECK_REFUSED(ShapeError, where(mask, 1, tensor({{1, 2}})), "where", "mask [2, 3]", "a []", "b [1, 2]",
                "mask has 3 and b has 2");
}

TEST_CASE("clamp refuses bounds in the wrong order") {
  CHECK_REFUSED(ValueError, clamp(Tensor(1), {.min = 2, .max = 1}), "clamp", "min 2", "max 1");
  CHECK_REFUSED(ValueError, clamp(Tensor(1), {.min = not_a_number, .max = 1}), "clamp", "min nan");
}
