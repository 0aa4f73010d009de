#include "special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace xgrad::detail {
namespace {

using detail::infinity;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Hurwitz's zeta function in units of its first term, or of any other number: the sum of (unit/(q + k))^s over k >= 0,
// for q > 0. Some terms, then the Euler-Maclaurin formula.
double zeta(double s, double q, double unit = 1) {
  // B_2k/(2k)!
  constexpr double weights[] = {1.0 / 12,          -1.0 / 720,
                                1.0 / 30240,       -1.0 / 1209600,
                                1.0 / 47900160,    -691.0 / 1307674368000,
                                1.0 / 74724249600, -3617.0 / 10670622842880000};
  double sum = 0, a = q, power = std::pow(unit / a, s);
  for (; a < 10 + s; power = std::pow(unit / ++a, s)) {
    if (power <= sum * 1e-18) return sum;  // soon for a high order, also where the terms vanish
    sum += power;
  }
  sum += power * a / (s - 1) + power / 2;
  double factor = s / a;  // s (s + 1) ... (s + 2k - 2) a^(1 - 2k)
  for (int k = 0; k < 8; ++k) {
    sum += weights[k] * factor * power;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (a * a);
  }
  return sum;
}

// The distance of x from the nearest whole number, with its sign, exactly.
double from_whole(double x) { return x - std::nearbyint(x); }

}  // namespace

double lgamma_of(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);  // std::lgamma writes the sign where other threads do
}

double digamma_of(double x) {
  if (x == 0) return std::copysign(infinity, -x);
  if (x < 0) {
    const double r = from_whole(x);  // the cotangent has the period 1
    if (r == 0 || std::isinf(x)) return not_a_number;
    return digamma_of(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * r);
  }
  double y = 0;
  for (; x < 10; ++x) y -= 1 / x;
  const double z = 1 / (x * x);
  const double tail =
      1.0 / 12 -
      z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12))))));
  return y + std::log(x) - 0.5 / x - z * tail;
}

double polygamma_of(std::int64_t n, double x) {
  if (std::isnan(x) || x == -infinity) return not_a_number;
  const double s = static_cast<double>(n) + 1, sign = n % 2 == 0 ? -1 : 1;
  if (x == infinity) return sign * 0.0;
  const double r = from_whole(x);
  if (x <= 0 && r == 0) return sign * infinity;
  // The sum of (x + k)^-s over k >= 0. Below 0 it goes over all whole k, r the smallest of the x + k, less those with
  // k < 0, which are terms of 1 - x with their signs turned where s is odd. Halfway between two poles all others then
  // cancel in pairs.
  const bool halfway = x < 0 && std::abs(r) == 0.5 && sign < 0;
  const double leading = x > 0 ? x : halfway ? 1 - x : std::abs(r);
  // In units of the leading term, where that or the factorial leaves the range.
  const bool scaled = s > 170 || !(std::pow(leading, -s) > 1e-290);
  const double unit = scaled ? leading : 1;
  double sum;
  if (x > 0) {
    sum = zeta(s, x, unit);
  } else if (halfway) {
    sum = zeta(s, 1 - x, unit);
  } else {
    const double nearest = (r < 0 ? sign : 1) * std::pow(unit / std::abs(r), s);
    sum = nearest + zeta(s, 1 + r, unit) + sign * (zeta(s, 1 - r, unit) - zeta(s, 1 - x, unit));
  }
  if (!scaled) return sign * std::tgamma(s) * sum;
  int factorial_sign = 0;
  const long double factor = ::lgammal_r(s, &factorial_sign) - s * std::log(static_cast<long double>(unit));
  return sign * static_cast<double>(std::exp(factor) * sum);
}

}  // namespace xgrad::detail
