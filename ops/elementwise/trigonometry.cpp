// Trigonometric and hyperbolic functions, and their inverses: a lambda and its derivative each.
#include "trigonometry.h"

#include <cmath>

#include "../../core/base/formula.h"
#include "arithmetic.h"
#include "elementwise.h"
#include "lambda.h"

namespace xgrad {
Tensor tan(const Tensor& x) {
  return elementwise(
      "tan", x, [](auto v) { return tan(v); }, [](auto, auto y) { return 1 + y * y; });
}

Tensor asin(const Tensor& x) {
  return elementwise(
      "asin", x, [](auto v) { return asin(v); }, [](auto v, auto) { return 1 / sqrt((1 - v) * (1 + v)); });
}

Tensor acos(const Tensor& x) {
  return elementwise(
      "acos", x, [](auto v) { return acos(v); }, [](auto v, auto) { return -1 / sqrt((1 - v) * (1 + v)); });
}

Tensor atan(const Tensor& x) {
  return elementwise(
      "atan", x, [](auto v) { return atan(v); }, [](auto v, auto) { return 1 / (1 + v * v); });
}

XGRAD_FORMULA atan2_formula{"atan2", "y = the angle of (b, a)", "dy/da = b/(a^2 + b^2); dy/db = -a/(a^2 + b^2)"};
Tensor atan2(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("atan2", a.shape(), b.shape());
  const auto arc = [](Real p, Real q) { return std::atan2(p, q); };
  // p/(a^2 + b^2), in units of the larger one, so that no square overflows or vanishes; 0 at the origin.
  const auto slope = [](const Tensor& p, const Tensor& a, const Tensor& b) {
    const Tensor largest = maximum(abs(a), abs(b));
    const Tensor unit = where(largest > 0 && largest < infinity, largest, 1).detach();
    return p / unit / (square(a / unit) + square(b / unit) + where(largest == 0, 1, 0)) / unit;
  };
  return record("atan2", map_elements<Real>(shape, arc, a.value(), b.value()),
                wrt(a, [a, b, slope](const Tensor& gy) { return sum_to(gy * slope(b, a, b), a.shape()); }),
                wrt(b, [a, b, slope](const Tensor& gy) { return sum_to(gy * slope(-a, a, b), b.shape()); }));
}

Tensor sinh(const Tensor& x) {
  return elementwise(
      "sinh", x, [](auto v) { return sinh(v); }, [](auto v, auto) { return cosh(v); });
}

Tensor cosh(const Tensor& x) {
  return elementwise(
      "cosh", x, [](auto v) { return cosh(v); }, [](auto v, auto) { return sinh(v); });
}

Tensor asinh(const Tensor& x) {
  // Where 1 + x^2 rounds to x^2, the square could overflow.
  return elementwise(
      "asinh", x, [](auto v) { return asinh(v); },
      [](auto v, auto) {
        return detail::guarded(
            [](const auto& u) {
              const auto size = abs(u), near = detail::bounded(u, 1e18);
              return where(size > 1e18, 1 / maximum(size, 1e18), 1 / sqrt(1 + near * near));
            },
            [](const auto& u) { return 1 / sqrt(1 + u * u); }, v);
      });
}

Tensor acosh(const Tensor& x) {
  return elementwise(
      "acosh", x, [](auto v) { return acosh(v); }, [](auto v, auto) { return 1 / (sqrt(v - 1) * sqrt(v + 1)); });
}

Tensor atanh(const Tensor& x) {
  return elementwise(
      "atanh", x, [](auto v) { return atanh(v); }, [](auto v, auto) { return 1 / ((1 - v) * (1 + v)); });
}

}  // namespace xgrad
