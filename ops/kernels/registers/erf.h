// The error function and the normal distribution on Packs, to 5 ulp also where they are small. xsimd's erf is 70 ulp
// off in double, and (1 + erf)/2 has no correct digit left in the lower tail.
#pragma once

#include <cstdint>
#include <limits>
#include <numbers>

#include "exp.h"

namespace xgrad::detail {

// Minimax polynomials, lowest coefficient first; relative errors 9e-9 and 1e-9 in float, 1e-17 and 7e-18 in double.
template <class Number>
struct ErfTable;

template <>
struct ErfTable<float> {
  static constexpr float limit = 14.5;  // beyond, the density underflows
  static constexpr float centre = 4;    // of `tail`
  // P(-x) e^(x^2/2) (x + centre) for 0 <= x <= limit, P the normal distribution function, in t = (x - centre)/(x +
  // centre)
  static constexpr float tail[] = {7.552851354e-1f, -6.078965883e-1f, 3.871369009e-1f,  -1.865234414e-1f,
                                   6.040383224e-2f, -7.525271017e-3f, -3.512556538e-3f, 1.569921809e-3f,
                                   1.79355565e-4f,  -1.319707211e-4f};
  // erf(x)/x for |x| <= 1, in x^2
  static constexpr float inner[] = {1.128379166f,    -3.761262584e-1f, 1.128358525e-1f, -2.685381458e-2f,
                                    5.188330483e-3f, -8.010202699e-4f, 7.853849828e-5f};
};

template <>
struct ErfTable<double> {
  static constexpr double limit = 38.7;
  static constexpr double centre = 5;
  static constexpr double tail[] = {
      7.69193049750062956e-1,  -6.65382502890056607e-1, 4.9530561596997693e-1,   -3.13533156671314973e-1,
      1.65020366170365017e-1,  -6.91186387059746736e-2, 2.07950668001718997e-2,  -2.99337677539537117e-3,
      -7.97869400728794566e-4, 5.4489910376592618e-4,   -5.93757160119237928e-5, -4.97630018867753279e-5,
      1.66811633572820092e-5,  3.981472389540771e-6,    -2.76910074694187701e-6, -3.37721574956329768e-7,
      4.32754689410327894e-7,  4.36071245563670023e-8,  -6.53767314303370953e-8, -1.02230848974454682e-8,
      7.20216350713887601e-9,  2.02257611086723093e-9};
  static constexpr double inner[] = {1.12837916709551257,     -3.761263890318352e-1,   1.12837916709442003e-1,
                                     -2.68661706431134137e-2, 5.22397760613084217e-3,  -8.5483259297662443e-4,
                                     1.205529358693695e-4,    -1.49247124395348141e-5, 1.6447132699786621e-6,
                                     -1.6206318752969209e-7,  1.37109887041905231e-8,  -7.77946297176159689e-10};
};

// |x|, bounded where the density vanishes: beyond, x^2 could overflow.
template <class V>
[[gnu::always_inline]] inline V distance(const V& x) {
  return bounded_above(abs(x), V(ErfTable<typename V::Number>::limit));
}

// The rounding error of x^2.
template <class V>
[[gnu::always_inline]] inline V square_error(const V& x, const V& square) {
#ifdef __FMA__
  return multiply_add(x, x, -square);
#else
  // Dekker 1971: products of halves of the digits are exact.
  constexpr int half = (std::numeric_limits<typename V::Number>::digits + 1) / 2;
  const V scaled = x * static_cast<typename V::Number>((std::int64_t(1) << half) + 1);
  const V high = scaled - (scaled - x), low = x - high;
  return (high * high - square) + 2 * high * low + low * low;
#endif
}

// e^(-x^2/2), corrected for the rounding error of x^2, which the exponential would magnify.
template <class V>
[[gnu::always_inline]] inline V bell(const V& x) {
  const V square = x * x, y = exp(-0.5 * square);
  return multiply_add(-0.5 * square_error(x, square), y, y);
}

// e^(-x^2), likewise.
template <class V>
[[gnu::always_inline]] inline V gauss_of(const V& x) {
  const V a = distance(x), square = a * a, y = exp(-square);
  return multiply_add(-square_error(a, square), y, y);
}

// P(-x) e^(x^2/2) for 0 <= x <= limit.
template <class V>
[[gnu::always_inline]] inline V lower_tail(const V& x) {
  using Table = ErfTable<typename V::Number>;
  const V inverse = 1 / (x + Table::centre);
  return polynomial((x - Table::centre) * inverse, Table::tail) * inverse;
}

// P(x) = 1/2 + erf(x/sqrt 2)/2 for |x| <= 1.
template <class V>
[[gnu::always_inline]] inline V central_cdf(const V& x) {
  const V half = 0.5 * (x * x);
  return multiply_add(x * (std::numbers::sqrt2 / 4), polynomial(half, ErfTable<typename V::Number>::inner), V(0.5));
}

template <class V>
[[gnu::always_inline]] inline V normal_cdf_of(const V& x) {
  const V a = distance(x), centre = central_cdf(x);
  const auto inner = a < 1;
  if (all(inner)) return centre;
  const V below = bell(a) * lower_tail(a);
  return where(inner, centre, where(x > 0, 1 - below, below));
}

template <class V>
[[gnu::always_inline]] inline V normal_pdf_of(const V& x) {
  return bell(distance(x)) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
}

template <class V>
[[gnu::always_inline]] inline V erf_of(const V& x) {
  const V a = distance(x), centre = x * polynomial(x * x, ErfTable<typename V::Number>::inner);
  const auto inner = a < 1;
  if (all(inner)) return centre;
  // 1 - erf(a): small, and its errors smaller, so that one more in the exponent does no harm.
  const V outer = 2 * exp(-(a * a)) * lower_tail(std::numbers::sqrt2 * a);
  return where(inner, centre, where(x > 0, 1 - outer, outer - 1));
}

}  // namespace xgrad::detail
