// Activation functions on Packs whose product with x, or difference from it, would lose digits: of a factor that is
// subnormal few are left, and none of x - tanh x where both are alike.
#pragma once

#include "erf.h"
#include "exp.h"

namespace xgrad::detail {

// x e^x vanishes below where e^x does, by not more than this.
inline constexpr int product_margin = 8;

// x/(1 + e^-x) with e^-x = m 2^k, as x/(2^-k + m) 2^-k: that is rounded once, also where it is subnormal.
template <class V>
[[gnu::always_inline]] inline V silu_of(const V& x) {
  constexpr auto least = ExpTable<typename V::Number>::least - product_margin;
  const auto vanishes = x < least;
  const ExpParts<V> parts(where(vanishes, V(0), maximum(-x, V(-40))));  // from 40 on, y = x
  const V y = where(vanishes, V(-0.0), x) / (scaled(V(1), -parts.k) + (parts.rest + 1));
  return scaled(y, -parts.k);
}

// x tanh(ln(1 + e^x)) = x (1 + 2e)/(1 + 2e + 2e^2) with e = e^-x, or x (e^2 + 2e)/(e^2 + 2e + 2) with e = e^x:
// whichever does not overflow. The first factors of the latter are x e, rounded once.
template <class V>
[[gnu::always_inline]] inline V mish_of(const V& x) {
  constexpr auto least = ExpTable<typename V::Number>::least - product_margin;
  const auto vanishes = x < least;
  const V below = where(vanishes, V(-0.0), x);
  const ExpParts<V> parts(maximum(-abs(below), V(least)));
  const V m = parts.rest + 1, e = scaled(m, parts.k);
  const auto positive = x > 0;
  const V left = where(positive, x, scaled(below * m, parts.k));
  const V above = 1 + 2 * e, square = e * (e + 2);
  return left * where(positive, above, e + 2) / where(positive, multiply_add(2 * e, e, above), square + 2);
}

// x P(x), P the normal distribution function, whose tail is multiplied by x before it can be subnormal.
template <class V>
[[gnu::always_inline]] inline V gelu_of(const V& x) {
  const V a = distance(x), centre = x * central_cdf(x);
  const auto near = a < 1;
  if (all(near)) return centre;
  const V tail = a * lower_tail(a) * bell(a);
  return where(near, centre, where(x > 0, x - tail, -tail));
}

// Polynomials of (x - tanh x)/x^3 for |x| <= 1.5, in x^2; relative errors 2e-8 and 4e-17.
template <class Number>
struct TanhshrinkTable;

template <>
struct TanhshrinkTable<float> {
  static constexpr float near[] = {3.333333258e-1f, -1.333326628e-1f, 5.395819277e-2f, -2.180971978e-2f,
                                   8.678126751e-3f, -3.25015566e-3f,  1.047591119e-3f, -2.560020934e-4f,
                                   4.007151973e-5f, -2.92121805e-6f};
};

template <>
struct TanhshrinkTable<double> {
  static constexpr double near[] = {3.33333333333333320e-1,  -1.33333333333327924e-1,  5.39682539678995566e-2,
                                    -2.18694885268903855e-2, 8.86323540105684298e-3,   -3.59212693421125455e-3,
                                    1.45582805665631478e-3,  -5.90001599454693076e-4,  2.39051054827358742e-4,
                                    -9.67357112219185484e-5, 3.89561898951924997e-5,   -1.54612027686911797e-5,
                                    5.92903383998871374e-6,  -2.12907280226592912e-6,  6.87704324026514951e-7,
                                    -1.91016011353363154e-7, 4.34674658191015699e-8,   -7.66549351221704448e-9,
                                    9.72550975933902571e-10, -7.84384725848440643e-11, 3.00618069925444163e-12};
};

template <class V>
[[gnu::always_inline]] inline V tanhshrink_of(const V& x) {
  const V bounded = maximum(minimum(x, V(1.5)), V(-1.5)), square = bounded * bounded;
  const V near = bounded * (square * polynomial(square, TanhshrinkTable<typename V::Number>::near));
  return where(abs(x) < 1.5, near, x - tanh(x));
}

// ln(a + sqrt(1 + a^2)) by log1p, for |x| < 2, where the logarithm is small beside its argument; xsimd's own beyond.
template <class V>
[[gnu::always_inline]] inline V asinh_near_0(const V& x) {
  const V a = minimum(abs(x), V(2)), square = a * a;
  return sign(x) * log1p(a + square / (1 + sqrt(1 + square)));
}

}  // namespace xgrad::detail
