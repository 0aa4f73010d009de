// The exponential on Packs, to about 1 ulp over its whole range: xsimd's is 0 where the result is subnormal, and
// infinite where it comes within a third of the largest number.
#pragma once

#include <cstddef>
#include <limits>
#include <numbers>

#include "../../../core/base/config.h"

namespace xgrad::detail {

// These are inlined whatever their size: in a loop, their constants stay in registers.

// Minimax polynomials of (e^r - 1 - r)/r^2 for |r| <= ln(2)/2, lowest coefficient first; errors of e^r 4e-9 and 8e-20.
template <class Number>
struct ExpTable;

template <>
struct ExpTable<float> {
  static constexpr float least = -104, most = 89;  // e^x is 0 below, infinite above
  static constexpr float high = 0.693359375f;      // ln 2, of so few digits that its product with an integer is exact
  static constexpr float low = -2.12194440e-4f;    // ln 2 - high
  static constexpr float all_but_one = -18;        // e^x - 1 is -1 below
  static constexpr float coefficients[] = {0.5f, 1.666648801e-1f, 4.166554988e-2f, 8.372329522e-3f, 1.403576377e-3f};
};

template <>
struct ExpTable<double> {
  static constexpr double least = -746, most = 710;
  static constexpr double high = 6.93147180369123816490e-1;
  static constexpr double low = 1.90821492927058770002e-10;
  static constexpr double all_but_one = -38;
  static constexpr double coefficients[] = {
      0.5,
      1.66666666666666891e-1,
      4.16666666666668433e-2,
      8.33333333331281714e-3,
      1.3888888888756143e-3,
      1.9841269906587214e-4,
      2.48015876317030883e-5,
      2.75572249257940615e-6,
      2.75569775721844393e-7,
      2.51154075018931342e-8,
      2.10145324247684148e-9,
  };
};

template <class V, std::size_t n>
[[gnu::always_inline]] inline V polynomial(const V& x, const typename V::Number (&coefficients)[n]) {
  V sum(coefficients[n - 1]);
  for (std::size_t i = n - 1; i-- > 0;) sum = multiply_add(sum, x, V(coefficients[i]));
  return sum;
}

// e^r - 1 for |r| <= ln(2)/2.
template <class V>
[[gnu::always_inline]] inline V expm1_near_0(const V& r) {
  return multiply_add(polynomial(r, ExpTable<typename V::Number>::coefficients), r * r, r);
}

// e^x = 2^k e^r with |r| <= ln(2)/2: k, and e^r - 1.
template <class V>
struct ExpParts {
  using Table = ExpTable<typename V::Number>;
  [[gnu::always_inline]] explicit ExpParts(const V& x) : k(nearest(x * 1.4426950408889634)) {
    const V r = multiply_add(k, -Table::low, multiply_add(k, -Table::high, x));
    remainder = expm1_near_0(r);
  }
  V k, remainder;
};

template <class V>
[[gnu::always_inline]] inline V exp_of(const V& x) {
  using Table = ExpTable<typename V::Number>;
  // Vanishing results are set to 0: a product that underflows takes twenty times as long as others.
  const auto vanishes = x < Table::least;
  const ExpParts<V> parts(where(vanishes, V(0), bounded_above(x, Table::most)));
  return where(vanishes, V(0), scaled(parts.remainder + 1, parts.k));
}

// 2^x, the whole part of x as the exponent.
template <class V>
[[gnu::always_inline]] inline V exp2_of(const V& x) {
  using Limits = std::numeric_limits<typename V::Number>;
  const auto vanishes = x < Limits::min_exponent - Limits::digits - 1;
  const V bounded = where(vanishes, V(0), bounded_above(x, Limits::max_exponent)), k = nearest(bounded);
  return where(vanishes, V(0), scaled(expm1_near_0(V((bounded - k) * std::numbers::ln2)) + 1, k));
}

template <class V>
[[gnu::always_inline]] inline V expm1_of(const V& x) {
  using Table = ExpTable<typename V::Number>;
  const ExpParts<V> parts(maximum(Table::all_but_one, bounded_above(x, Table::most)));
  const V half = scaled(V(0.5), parts.k);  // 2^k itself may be too large
  const V y = 2 * multiply_add(half, parts.remainder, half - 0.5);
  return where(abs(x) < std::numeric_limits<typename V::Number>::epsilon() / 4, x, y);
}

}  // namespace xgrad::detail
