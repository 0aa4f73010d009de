// Special functions. Those of ops/kernels/reduce/special.h go number by number; their derivatives are special functions, too.
#include "special.h"

#include <numbers>
#include <utility>

#include "../../core/graph/record.h"
#include "../../core/base/formula.h"
#include "../kernels/reduce/special.h"
#include "arithmetic.h"
#include "compare.h"
#include "elementwise.h"
#include "lambda.h"
#include "rounding.h"

namespace xgrad {
namespace {

// f of each number.
template <class F>
Array each(const char* op, const Tensor& x, const F& f) {
  return map_elements<Real>(
      {x.shape(), {op}}, [f](Real v) { return static_cast<Real>(f(static_cast<double>(v))); }, x.value());
}

}  // namespace

XGRAD_FORMULA lgamma_formula{"lgamma", "y = ln |Gamma(x)|", "dy/dx = digamma x"};
Tensor lgamma(const Tensor& x) {
  return record("lgamma", each("lgamma", x, detail::lgamma_of),
                wrt(x, [x](const Tensor& gy) { return gy * digamma(x); }));
}

XGRAD_FORMULA digamma_formula{"digamma", "y = psi(x), the derivative of ln Gamma(x)", "dy/dx = polygamma(1, x)"};
Tensor digamma(const Tensor& x) {
  return record("digamma", each("digamma", x, detail::digamma_of),
                wrt(x, [x](const Tensor& gy) { return gy * polygamma(1, x); }));
}

XGRAD_FORMULA polygamma_formula{"polygamma", "y = the n-th derivative of psi(x)", "dy/dx = polygamma(n + 1, x)"};
namespace {

Tensor polygamma_of_order(std::int64_t n, const Tensor& x) {
  return record("polygamma", each("polygamma", x, [n](double v) { return detail::polygamma_of(n, v); }),
                wrt(x, [n, x](const Tensor& gy) { return gy * polygamma_of_order(n + 1, x); }), told("n", n));
}

}  // namespace
Tensor polygamma(int n, const Tensor& x) {
  if (n < 0) fail<ValueError>("polygamma", "negative order ", n);
  return n == 0 ? digamma(x) : polygamma_of_order(n, x);
}

XGRAD_FORMULA erfinv_slope_formula{"erfinv_slope", "y = sqrt(pi)/2 e^(z^2) with erf(z) = x", "dy/dx = 2 z y^2"};
namespace {

// From x, not from the rounded y, whose error the exponential would magnify.
Tensor erfinv_slope(const Tensor& x) {
  return record("erfinv_slope", each("erfinv_slope", x, detail::erfinv_slope_of),
                wrt(x, [x](const Tensor& gy, const Tensor& y) { return gy * (2 * erfinv(x) * square(y)); }));
}

}  // namespace
XGRAD_FORMULA erfinv_formula{"erfinv", "y with erf(y) = x", "dy/dx = sqrt(pi)/2 e^(y^2)"};
Tensor erfinv(const Tensor& x) {
  return record("erfinv", each("erfinv", x, detail::erfinv_of),
                wrt(x, [x](const Tensor& gy) { return gy * erfinv_slope(x); }));
}

XGRAD_FORMULA bessel_i_formula{"bessel_i", "y = I_n(x)", "dy/dx = (I_(n-1)(x) + I_(n+1)(x))/2"};
XGRAD_FORMULA i0_formula{"i0", "y = I_0(x)", "dy/dx = I_1(x)"};
XGRAD_FORMULA i1_formula{"i1", "y = I_1(x)", "dy/dx = (I_0(x) + I_2(x))/2"};
namespace {

// Its derivative has no difference, which would be inf - inf where both terms overflow.
Tensor bessel_i(int order, const Tensor& x) {
  const char* op = order == 0 ? "i0" : order == 1 ? "i1" : "bessel_i";
  Array y = each(op, x, [order](double v) { return detail::bessel_i(order, v); });
  const auto slope = [order, x](const Tensor& gy) {
    return gy * (order == 0 ? bessel_i(1, x) : (bessel_i(order - 1, x) + bessel_i(order + 1, x)) / 2);
  };
  if (order < 2) return record(op, std::move(y), wrt(x, slope));
  return record(op, std::move(y), wrt(x, slope), told("n", order));
}

}  // namespace
Tensor i0(const Tensor& x) { return bessel_i(0, x); }
Tensor i1(const Tensor& x) { return bessel_i(1, x); }

namespace {

// sin(pi v) and cos(pi v) of numbers and of tensors. Reducing v by even numbers and by reflection is exact: nothing is
// rounded before the product with pi.
template <class V>
V turns(const V& v) {
  const V bounded = maximum(minimum(v, 1e18), -1e18);  // beyond, all numbers are even; infinities count as even
  return bounded - 2 * round(bounded / 2);
}
template <class V>
V sin_pi(const V& v) {
  const V t = turns(v);
  return sin(std::numbers::pi * where(abs(t) > 0.5, sign(t) - t, t));
}
template <class V>
V cos_pi(const V& v) {
  return sin(std::numbers::pi * (0.5 - abs(turns(v))));
}

}  // namespace

XGRAD_FORMULA sinc_formula{"sinc", "y = sin(pi x)/(pi x)", "dy/dx = (cos(pi x) - y)/x"};
Tensor sinc(const Tensor& x) {
  const Real pi = std::numbers::pi_v<Real>;
  return elementwise(
      "sinc", x,
      [pi](auto v) {
        const auto small = where(abs(v) < 0.5, v, 0.25), z = pi * small;  // the same rounded z twice does no harm
        return where(v == 0, 1, where(abs(v) < 0.5, sin(z) / z, sin_pi(v) / pi / v));
      },
      [pi](auto v, auto) {
        const auto z = pi * where(abs(v) < 0.3, v, 0);
        // Near 0 the two terms of the formula cancel; the series has no cancellation.
        const auto s = z * z;
        const auto tail = 1 - s / 88 * (1 - s / 130 * (1 - s / 180 * (1 - s / 238 * (1 - s / 320))));
        const auto series = -pi * z / 3 * (1 - s / 10 * (1 - s / 28 * (1 - s / 54 * tail)));
        const auto far = where(abs(v) < 0.3, 1, v);
        return where(abs(v) < 0.3, series, (cos_pi(far) - sin_pi(far) / pi / far) / far);
      });
}

Tensor xlogy(const Tensor& a, const Tensor& b) {
  return elementwise(
      "xlogy", a, b,
      [](auto p, auto q) {
        return detail::guarded(
            [](const auto& s, const auto& t) {
              return where(s == 0, where(t == t, 0, t), s * log(where(s == 0, 1, t)));
            },
            [](const auto& s, const auto& t) { return where(s == 0, 0, s * log(t)); }, p, q);
      },
      [](auto p, auto q, auto) {
        return detail::guarded(
            [](const auto& s, const auto& t) { return where(s == 0 && t <= 0, 0, log(where(s == 0 && t <= 0, 1, t))); },
            [](const auto&, const auto& t) { return log(t); }, p, q);
      },
      [](auto p, auto q, auto) {
        return detail::guarded(
            [](const auto& s, const auto& t) { return where(s == 0 && t == 0, 0, s / where(s == 0 && t == 0, 1, t)); },
            [](const auto& s, const auto& t) { return s / t; }, p, q);
      });
}

}  // namespace xgrad
