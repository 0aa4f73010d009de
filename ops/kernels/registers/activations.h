// Activation functions on Packs whose product with x, or difference from it, would lose digits: a subnormal factor has
// few left, and x - tanh x none where both are nearly equal.
#pragma once

#include "erf.h"
#include "exp.h"

namespace xgrad::detail {

// x e^x vanishes further below than e^x, by not more than this.
inline constexpr int product_margin = 8;

// x/(1 + e^-x) with e^-x = m 2^k, as x/(2^-k + m) 2^-k: that is rounded once, also where it is subnormal.
template <class V>
[[gnu::always_inline]] inline V silu_of(const V& x) {
  constexpr auto least = ExpTable<typename V::Number>::least - product_margin;
  const auto vanishes = x < least;
  const ExpParts<V> parts(where(vanishes, V(0), larger(-x, V(-40))));  // from 40 on, y = x
  const V y = where(vanishes, V(-0.0), x) / (scaled(V(1), -parts.k) + (parts.rest + 1));
  return scaled(y, -parts.k);
}

// x tanh(ln(1 + e^x)) = x (1 - 2e^2/(1 + 2e + 2e^2)) with e = e^-x, or x e (1 - e (e + 1)/(e^2 + 2e + 2)) with e = e^x:
// whichever does not overflow. The x e of the latter is rounded once.
template <class V>
[[gnu::always_inline]] inline V mish_of(const V& x) {
  constexpr auto least = ExpTable<typename V::Number>::least - product_margin;
  const auto vanishes = x < least;
  const V below = where(vanishes, V(-0.0), x);
  const ExpParts<V> parts(larger(-abs(below), V(least)));
  const V m = parts.rest + 1, e = scaled(m, parts.k), twice = 2 * e;
  const auto positive = x > 0;
  const V y = where(positive, x, scaled(below * m, parts.k));
  const V part = where(positive, twice * e, multiply_add(e, e, e)) /
                 where(positive, multiply_add(twice, e, twice + 1), multiply_add(e, e, twice + 2));
  return y * (1 - part);
}

// Polynomials of x P(-x) e^(x^2/2) for 1 <= x <= far, in t = (x - centre)/(x + centre) with those of ErfTable;
// relative errors 2e-8 and 3e-17.
template <class Number>
struct GeluTable;

template <>
struct GeluTable<float> {
  static constexpr float tail[] = {0.3776425654f,    0.07369425522f,    -0.1103795919f,
                                   0.100307271f,     -0.06306419758f,   0.02643435378f,
                                   -0.005491472712f, -0.0009530806201f, 0.0008031526359f};
};

template <>
struct GeluTable<double> {
  static constexpr double tail[] = {
      0.384596524875031478,      0.051905273430002619,     -0.0850384434600399702,  0.0908862296494009061,
      -0.0742563952504557239,    0.0479508637295958296,    -0.0241617859535775452,  0.00890084505676632019,
      -0.00189562307804059768,   -0.000126485564853296627, 0.000242761617880644662, -0.000054567017871226031,
      -0.0000165405990337224262, 0.0000103231268295171633, 6.05408418492350034e-7,  -1.53555376454491861e-6,
      4.86676274155771183e-8,    2.14848877494955157e-7,   -1.22062954541651077e-8, -2.13881965304081943e-8};
};

// x P(x), P the normal distribution function, whose tail is multiplied by x before it can be subnormal.
template <class V>
[[gnu::always_inline]] inline V gelu_of(const V& x) {
  using Number = typename V::Number;
  const V a = distance(x), centre = x * central_cdf(x);
  const auto near = a < 1;
  if (all(near)) return centre;
  const V t = (a - ErfTable<Number>::centre) / (a + ErfTable<Number>::centre);
  const V tail = polynomial(t, GeluTable<Number>::tail) * bell(a);
  return where(near, centre, where(x > 0, x - tail, -tail));
}

// Polynomials of x^3/(x - tanh x) for |x| <= 1.5, in x^2; relative errors 2e-8 and 6e-18.
template <class Number>
struct TanhshrinkTable;

template <>
struct TanhshrinkTable<float> {
  static constexpr float near[] = {3.000000052f, 1.19999885f, -5.710148107e-3f, 2.486856835e-4f, -9.36346616e-6f};
};

template <>
struct TanhshrinkTable<double> {
  static constexpr double near[] = {3.00000000000000002,     1.19999999999999813,     -5.71428571425231329e-3,
                                    2.53968253735663152e-4,  -1.22036685138991365e-5, 5.98764568775906545e-7,
                                    -2.95628387733100645e-8, 1.4608692644511772e-9,   -7.13538682748718346e-11,
                                    3.21069324238524423e-12, -9.85877101214434727e-14};
};

template <class V>
[[gnu::always_inline]] inline V tanhshrink_of(const V& x) {
  const V bounded = larger(bounded_above(x, V(1.5)), V(-1.5)), square = bounded * bounded;
  const V near = bounded * square / polynomial(square, TanhshrinkTable<typename V::Number>::near);
  return where(abs(x) < 1.5, near, x - tanh(x));
}

// ln(a + sqrt(1 + a^2)) by log1p, for |x| < 2, where the logarithm is small beside its argument; xsimd's own beyond.
template <class V>
[[gnu::always_inline]] inline V asinh_near_0(const V& x) {
  const V a = minimum(abs(x), V(2)), square = a * a;
  return sign(x) * log1p(a + square / (1 + sqrt(1 + square)));
}

}  // namespace xgrad::detail
