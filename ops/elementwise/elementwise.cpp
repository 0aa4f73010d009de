// Functions of one tensor, element by element: a lambda and its derivative each.
#include "elementwise.h"

#include <cmath>
#include <numbers>

#include "../../core/base/formula.h"
#include "arithmetic.h"
#include "lambda.h"

namespace xgrad {

using detail::bounded, detail::guarded;

Tensor exp(const Tensor& x) {
  return elementwise(
      "exp", x, [](auto v) { return exp(v); }, [](auto, auto y) { return y; });
}

Tensor expm1(const Tensor& x) {
  return elementwise(
      "expm1", x, [](auto v) { return expm1(v); }, [](auto v, auto) { return exp(v); });
}

Tensor log(const Tensor& x) {
  return elementwise(
      "log", x, [](auto v) { return log(v); }, [](auto v, auto) { return 1 / v; });
}

Tensor log1p(const Tensor& x) {
  return elementwise(
      "log1p", x, [](auto v) { return log1p(v); }, [](auto v, auto) { return 1 / (1 + v); });
}

Tensor exp2(const Tensor& x) {
  return elementwise(
      "exp2", x, [](auto v) { return exp2(v); },
      [](auto v, auto y) {
        return guarded(
            [](const auto& u, const auto&) {  // finite also where 2^u is not
              const auto root = exp2(0.5 * u);
              return root * (std::numbers::ln2 * root);
            },
            [](const auto&, const auto& power) { return power * std::numbers::ln2; }, v, y);
      });
}

Tensor log2(const Tensor& x) {
  return elementwise(
      "log2", x, [](auto v) { return log2(v); }, [](auto v, auto) { return std::numbers::log2e / v; });
}

Tensor log10(const Tensor& x) {
  return elementwise(
      "log10", x, [](auto v) { return log10(v); }, [](auto v, auto) { return std::numbers::log10e / v; });
}

Tensor reciprocal(const Tensor& x) {
  return elementwise(
      "reciprocal", x, [](auto v) { return 1 / v; }, [](auto, auto y) { return -(y * y); });
}

Tensor sqrt(const Tensor& x) {
  return elementwise(
      "sqrt", x, [](auto v) { return sqrt(v); }, [](auto, auto y) { return 0.5 / y; });
}

Tensor rsqrt(const Tensor& x) {
  return elementwise(
      "rsqrt", x, [](auto v) { return 1 / sqrt(v); }, [](auto, auto y) { return -0.5 * y * y * y; });
}

Tensor square(const Tensor& x) {
  return elementwise(
      "square", x, [](auto v) { return v * v; }, [](auto v, auto) { return 2 * v; });
}

Tensor abs(const Tensor& x) {
  return elementwise(
      "abs", x, [](auto v) { return abs(v); }, [](auto v, auto) { return sign(v); });
}

Tensor sign(const Tensor& x) {
  return elementwise(
      "sign", x, [](auto v) { return sign(v); }, [](auto, auto) { return 0; });
}

Tensor sin(const Tensor& x) {
  return elementwise(
      "sin", x, [](auto v) { return sin(v); }, [](auto v, auto) { return cos(v); });
}

Tensor cos(const Tensor& x) {
  return elementwise(
      "cos", x, [](auto v) { return cos(v); }, [](auto v, auto) { return -sin(v); });
}

Tensor tanh(const Tensor& x) {
  return elementwise(
      "tanh", x, [](auto v) { return tanh(v); }, [](auto, auto y) { return 1 - y * y; });
}

Tensor sigmoid(const Tensor& x) {
  return elementwise(
      "sigmoid", x, [](auto v) { return sigmoid(v); }, [](auto, auto y) { return y * (1 - y); });
}

namespace {

// e^(-x^2), as Packs have it.
Tensor gauss(const Tensor& x) {
  return elementwise(
      "gauss", x, [](auto v) { return gauss(v); }, [](auto v, auto y) { return 2 * bounded(-v, 1e2) * y; });
}

}  // namespace

Tensor erf(const Tensor& x) {
  return elementwise(
      "erf", x, [](auto v) { return erf(v); }, [](auto v, auto) { return 2 * std::numbers::inv_sqrtpi * gauss(v); });
}

XGRAD_FORMULA logaddexp_formula{"logaddexp", "y = ln(e^a + e^b)", "dy/da = e^(a - y); dy/db = e^(b - y)"};
Tensor logaddexp(const Tensor& a, const Tensor& b) {
  // The distance of two equal infinities is 0.
  const auto distance = [](auto p, auto q) { return where(p == q && abs(p) == infinity, 0, p - q); };
  const auto ratio = [distance](auto p, auto q, auto) {
    return where(p == q && p == -infinity, 0, sigmoid(distance(p, q)));
  };
  return elementwise(
      "logaddexp", a, b, [distance](auto p, auto q) { return maximum(p, q) + log1p(exp(-abs(distance(p, q)))); }, ratio,
      [ratio](auto p, auto q, auto y) { return ratio(q, p, y); });
}

Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  broadcast_shapes("lerp", {{"start", start.shape()}, {"end", end.shape()}, {"weight", weight.shape()}});
  return elementwise(
      "lerp", start, end, weight,
      [](auto a, auto b, auto w) {
        return guarded(
            [](const auto& p, const auto& q, const auto& v) {
              // From the nearer end, so that equal ends are met exactly, unless the distance leaves the range.
              const auto distance = q - p, near = where(v < 0.5, p + v * distance, q - (1 - v) * distance);
              const auto inside = where(abs(distance) < infinity, near, (1 - v) * p + v * q);
              return where(v == 0, p, where(v == 1, q, inside));
            },
            [](const auto& p, const auto& q, const auto& v) { return p + v * (q - p); }, a, b, w);
      },
      [](auto, auto, auto w, auto) { return 1 - w; }, [](auto, auto, auto w, auto) { return w; },
      [](auto a, auto b, auto, auto) { return b - a; });
}

XGRAD_FORMULA clamp_formula{"clamp", "y = max(min(x, high), low)", "dy/dx = 1 if x > low and x < high, else 0"};
Tensor clamp(const Tensor& x, const Bounds& bounds) {
  const Real low = static_cast<Real>(bounds.min), high = static_cast<Real>(bounds.max);
  if (!(low <= high)) fail<ValueError>("clamp", "min ", low, " is above max ", high);
  // The numbers next to the bounds: an infinite x is not at the bound of an unbounded side.
  const Real least = low == -infinity ? low : std::nextafter(low, infinity);
  const Real most = high == infinity ? high : std::nextafter(high, -infinity);
  return elementwise(
      "clamp", x, [low, high](auto v) { return maximum(minimum(v, high), low); },
      [least, most](auto v, auto) { return where(v >= least && v <= most, 1, 0); },
      attribute("min", unless(Bounds().min, bounds.min)), attribute("max", unless(Bounds().max, bounds.max)));
}

Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high) {
  broadcast_shapes("clamp", {{"x", x.shape()}, {"low", low.shape()}, {"high", high.shape()}});
  const Real half = 0.5;  // captured, so that the formula is the one above
  return elementwise(
      "clamp", x, low, high, [](auto v, auto a, auto b) { return minimum(maximum(v, a), b); },
      [half](auto v, auto a, auto b, auto) {
        return where(v < a || v > b, 0, where(a == b, 1, where(v == a || v == b, half, 1)));
      },
      [](auto v, auto a, auto b, auto) { return where(a <= b, where(v < a, 1, where(v == a && a < b, 0.5, 0)), 0); },
      [](auto v, auto a, auto b, auto) { return where(v > b || a > b, 1, where(v == b && a < b, 0.5, 0)); });
}

XGRAD_FORMULA nan_to_num_formula{"nan_to_num", "y = x if x is finite, else a number for it",
                                 "dy/dx = 1 if x is finite, else 0"};
Tensor nan_to_num(const Tensor& x, const NanToNumOptions& options) {
  const Real for_nan = static_cast<Real>(options.nan);
  const Real above = static_cast<Real>(options.posinf), below = static_cast<Real>(options.neginf);
  return elementwise(
      "nan_to_num", x,
      [for_nan, above, below](auto v) {
        return where(v == v, where(v == infinity, above, where(v == -infinity, below, v)), for_nan);
      },
      [](auto v, auto) { return where(abs(v) < infinity, 1, 0); }, attribute("nan", unless(0, options.nan)),
      attribute("posinf", unless(NanToNumOptions().posinf, options.posinf)),
      attribute("neginf", unless(NanToNumOptions().neginf, options.neginf)));
}

namespace {

// Powers by the C library: xsimd's have errors of many ulps and NaN or 0 at the edges.
Real power(Real base, Real exponent) { return std::pow(base, exponent); }

Array power_of(const Array& x, Real exponent) {
  if (exponent == 2) return map(x, [](auto v) { return v * v; });
  if (exponent == 1) return x;
  if (exponent == 3) return map(x, [](auto v) { return v * v * v; });
  if (exponent == -1) return map(x, [](auto v) { return 1 / v; });
  // pow is +0 at -0 and takes -infinity for infinity.
  if (exponent == Real(0.5)) return map(x, [](auto v) { return where(v == -infinity, infinity, sqrt(v + 0)); });
  if (exponent == Real(-0.5)) return map(x, [](auto v) { return where(v == -infinity, 0, 1 / sqrt(v + 0)); });
  return map_elements<Real>(x.shape(), power, x, Array({}, exponent));
}

}  // namespace

XGRAD_FORMULA pow_formula{"pow", "y = a^b", "dy/da = b a^(b - 1); dy/db = a^b ln a"};
Tensor pow(const Tensor& x, double power) {
  const Real exponent = static_cast<Real>(power);
  return record("pow", power_of(x.value(), exponent),
                wrt(x,
                    [x, exponent](const Tensor& gy) {
                      if (exponent == 0) return gy * Tensor(Array(x.shape(), Real(0)));
                      return gy * (exponent * pow(x, exponent - 1));
                    }),
                attribute("exponent", exponent));
}

Tensor pow(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("pow", a.shape(), b.shape());
  return record("pow", map_elements<Real>(shape, power, a.value(), b.value()),
                wrt(a,
                    [a, b](const Tensor& gy) {
                      const Tensor slope = where(b == 0, 0, b * pow(a, where(b == 0, 1, b - 1)));
                      return sum_to(gy * slope, a.shape());
                    }),
                wrt(b, [a, b](const Tensor& gy, const Tensor& y) {
                  // a^b ln a tends to 0 with a if b >= 0, else to -a^b, which is infinite and has the sign of a; the
                  // logarithm of the 0 stays out of both branches. By the root of a^b: that may overflow where the
                  // slope does not.
                  const Mask zero = a == 0;
                  const Tensor base = where(zero, 1, a), root = pow(base, 0.5 * b), slope = root * log(base) * root;
                  return sum_to(gy * (any(zero) ? where(zero, where(b >= 0, 0, -y), slope) : slope), b.shape());
                }));
}

}  // namespace xgrad
