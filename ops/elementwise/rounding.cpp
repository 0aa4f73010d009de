// Rounding to integers, and remainders.
#include "rounding.h"

#include <cmath>

#include "../../core/base/formula.h"
#include "arithmetic.h"
#include "lambda.h"

namespace xgrad {

Tensor floor(const Tensor& x) {
  return elementwise(
      "floor", x, [](auto v) { return floor(v); }, [](auto, auto) { return 0; });
}

Tensor ceil(const Tensor& x) {
  return elementwise(
      "ceil", x, [](auto v) { return ceil(v); }, [](auto, auto) { return 0; });
}

Tensor round(const Tensor& x) {
  return elementwise(
      "round", x, [](auto v) { return round(v); }, [](auto, auto) { return 0; });
}

Tensor trunc(const Tensor& x) {
  return elementwise(
      "trunc", x, [](auto v) { return trunc(v); }, [](auto, auto) { return 0; });
}

Tensor frac(const Tensor& x) {
  return elementwise(
      "frac", x, [](auto v) { return v - trunc(v); }, [](auto, auto) { return 1; });
}

namespace {

// A remainder: dy/da = 1, and -dy/db is the number of times that b was subtracted.
Tensor remainder_of(const char* op, const Tensor& a, const Tensor& b, Real (*of)(Real, Real)) {
  const Shape shape = broadcast_shapes(op, a.shape(), b.shape());
  return record(
      op, map_elements<Real>({shape, {op}}, of, a.value(), b.value()),
      wrt(a, [](const Tensor& gy, InputShape to) { return sum_to(gy, to); }),
      wrt(b, [a, b](const Tensor& gy, const Tensor& y) { return sum_to(-gy * round((a - y) / b), b.shape()); }));
}

}  // namespace

XGRAD_FORMULA remainder_formula{"remainder", "y = a - b floor(a/b)", "dy/da = 1; dy/db = -floor(a/b)"};
Tensor remainder(const Tensor& a, const Tensor& b) {
  const auto of = [](Real p, Real q) {
    const Real left = std::fmod(p, q);
    if (left == 0) return std::copysign(left, q);
    return (left < 0) != (q < 0) ? left + q : left;
  };
  return remainder_of("remainder", a, b, of);
}

XGRAD_FORMULA fmod_formula{"fmod", "y = a - b trunc(a/b)", "dy/da = 1; dy/db = -trunc(a/b)"};
Tensor fmod(const Tensor& a, const Tensor& b) {
  return remainder_of("fmod", a, b, [](Real p, Real q) { return std::fmod(p, q); });
}

}  // namespace xgrad
