// Operations whose kernel is an xtensor expression: those of docs/inside/adding_an_operation.md.
#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

/// y = ln(1 + x^2)      dy/dx = 2 x / (1 + x^2)
Tensor log1p_square(const Tensor& x) {
  return record("log1p_square", to_array(xt::log1p(xt::square(view(x.value())))),
                wrt(x, [x](const Tensor& gy) { return gy * 2 * x / (1 + square(x)); }));
}

/// The hypotenuse, with broadcasting.   y = sqrt(a^2 + b^2)   dy/da = a / y   dy/db = b / y
Tensor hypot(const Tensor& a, const Tensor& b) {
  broadcast_shapes("hypot", a.shape(), b.shape());  // or a ShapeError
  return record("hypot", to_array(xt::hypot(view(a.value()), view(b.value()))),
                wrt(a, [a](const Tensor& gy, const Tensor& y) { return sum_to(gy * a / y, a.shape()); }),
                wrt(b, [b](const Tensor& gy, const Tensor& y) { return sum_to(gy * b / y, b.shape()); }));
}

}  // namespace

TEST_CASE("an operation whose kernel is an xtensor expression equals xtensor, with gradients of any order") {
  for (const Shape& shape : {Shape{}, {1}, {0, 3}, {3, 5}, {2, 1, 3}}) {
    CAPTURE(str(shape));
    const Array x = normal(shape);
    const xt::xarray<Real> expected = xt::log(1 + view(x) * view(x));
    check_close(log1p_square(x).value(), to_array(expected));
    check_gradients([](const Tensors& xs) { return log1p_square(xs[0]); }, {x},
                    {.order = 3, .zero = shape.numel() == 0});
  }
  const Shape pairs[][2] = {{{3, 4}, {3, 4}}, {{3, 4}, {4}}, {{3, 1}, {1, 4}}, {{}, {2, 3}}};
  for (const auto& [a, b] : pairs) {
    const Array x = uniform(a, 0.5, 2), y = uniform(b, 0.5, 2, 2);
    const xt::xarray<Real> expected = xt::sqrt(view(x) * view(x) + view(y) * view(y));
    check_close(hypot(x, y).value(), to_array(expected));
    check_gradients([](const Tensors& xs) { return hypot(xs[0], xs[1]); }, {x, y});
  }
  CHECK_REFUSED(ShapeError, hypot(ones({2}), ones({3})), "hypot", "[2]", "[3]");
}
