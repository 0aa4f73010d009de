// Special functions. Those of kernels/special.h go number by number; their derivatives are others of them.
#include "special.h"

#include <numbers>

#include "../core/formula.h"
#include "../core/record.h"
#include "arithmetic.h"
#include "compare.h"
#include "elementwise.h"
#include "kernels/special.h"
#include "lambda.h"

namespace xgrad {
namespace {

// f of each number.
template <class F>
Array each(const Tensor& x, const F& f) {
  return map_elements<Real>(
      x.shape(), [f](Real v) { return static_cast<Real>(f(static_cast<double>(v))); }, x.value());
}

}  // namespace

XGRAD_FORMULA lgamma_formula{"lgamma", "y = ln |Gamma(x)|", "dy/dx = digamma x"};
Tensor lgamma(const Tensor& x) {
  return record("lgamma", each(x, detail::lgamma_of), wrt(x, [x](const Tensor& gy) { return gy * digamma(x); }));
}

XGRAD_FORMULA digamma_formula{"digamma", "y = psi(x), the derivative of ln Gamma(x)", "dy/dx = polygamma(1, x)"};
Tensor digamma(const Tensor& x) {
  return record("digamma", each(x, detail::digamma_of), wrt(x, [x](const Tensor& gy) { return gy * polygamma(1, x); }));
}

XGRAD_FORMULA polygamma_formula{"polygamma", "y = the n-th derivative of psi(x)", "dy/dx = polygamma(n + 1, x)"};
Tensor polygamma(int n, const Tensor& x) {
  if (n < 0) fail<ValueError>("polygamma", "negative order ", n);
  if (n == 0) return digamma(x);
  return record("polygamma", each(x, [n](double v) { return detail::polygamma_of(n, v); }),
                wrt(x, [n, x](const Tensor& gy) { return gy * polygamma(n + 1, x); }), told("n", n));
}

XGRAD_FORMULA erfinv_formula{"erfinv", "y with erf(y) = x", "dy/dx = sqrt(pi)/2 e^(y^2)"};
Tensor erfinv(const Tensor& x) {
  constexpr double slope = 0.5 / std::numbers::inv_sqrtpi;
  return record("erfinv", each(x, detail::erfinv_of),
                wrt(x, [](const Tensor& gy, const Tensor& y) { return gy * (slope * exp(square(y))); }));
}

XGRAD_FORMULA i0_formula{"i0", "y = I_0(x)", "dy/dx = I_1(x)"};
Tensor i0(const Tensor& x) {
  return record("i0", each(x, [](double v) { return detail::bessel_i(0, v); }),
                wrt(x, [x](const Tensor& gy) { return gy * i1(x); }));
}

XGRAD_FORMULA i1_formula{"i1", "y = I_1(x)", "dy/dx = I_0(x) - y/x"};
Tensor i1(const Tensor& x) {
  return record("i1", each(x, [](double v) { return detail::bessel_i(1, v); }),
                wrt(x, [x](const Tensor& gy, const Tensor& y) {
                  return gy * (i0(x) - where(x == 0, 0.5, y / where(x == 0, 1, x)));
                }));
}

XGRAD_FORMULA sinc_formula{"sinc", "y = sin(pi x)/(pi x)", "dy/dx = (cos(pi x) - y)/x"};
Tensor sinc(const Tensor& x) {
  const Real pi = std::numbers::pi_v<Real>;
  return elementwise(
      "sinc", x, [pi](auto v) { return where(v == 0, 1, sin(pi * v) / where(v == 0, 1, pi * v)); },
      [pi](auto v, auto) {
        const auto z = pi * v;
        // Near 0 the two terms of the formula are equal; the series has none to lose.
        const auto s = where(abs(z) < 1, z * z, 0);
        const auto tail = 1 - s / 88 * (1 - s / 130 * (1 - s / 180 * (1 - s / 238 * (1 - s / 320))));
        const auto series = -pi * z / 3 * (1 - s / 10 * (1 - s / 28 * (1 - s / 54 * tail)));
        const auto far = where(abs(z) < 1, 1, z);
        return where(abs(z) < 1, series, pi * (cos(far) - sin(far) / far) / far);
      });
}

Tensor xlogy(const Tensor& a, const Tensor& b) {
  return elementwise(
      "xlogy", a, b, [](auto p, auto q) { return where(p == 0, where(q == q, 0, q), p * log(where(p == 0, 1, q))); },
      [](auto p, auto q, auto) { return where(p == 0 && q <= 0, 0, log(where(p == 0 && q <= 0, 1, q))); },
      [](auto p, auto q, auto) { return where(p == 0 && q == 0, 0, p / where(p == 0 && q == 0, 1, q)); });
}

}  // namespace xgrad
