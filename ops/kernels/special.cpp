#include "special.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "../../core/random.h"

namespace xgrad::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// Hurwitz's zeta function, the sum of (q + k)^-s over k >= 0, for q > 0: some terms, then the Euler-Maclaurin formula.
double zeta(double s, double q) {
  // B_2k/(2k)!
  constexpr double weights[] = {1.0 / 12,          -1.0 / 720,
                                1.0 / 30240,       -1.0 / 1209600,
                                1.0 / 47900160,    -691.0 / 1307674368000,
                                1.0 / 74724249600, -3617.0 / 10670622842880000};
  double sum = 0, a = q;
  for (; a < 10 + s; ++a) sum += std::pow(a, -s);
  double power = std::pow(a, -s);
  sum += power * a / (s - 1) + power / 2;
  double factor = s / a;  // s (s + 1) ... (s + 2k - 2) a^(1 - 2k)
  for (int k = 0; k < 8; ++k) {
    sum += weights[k] * factor * power;
    factor *= (s + 2 * k + 1) * (s + 2 * k + 2) / (a * a);
  }
  return sum;
}

}  // namespace

double lgamma_of(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);  // std::lgamma writes the sign where other threads do
}

double digamma_of(double x) {
  if (x == 0) return std::copysign(infinity, -x);
  if (x < 0) {
    const double fraction = x - std::floor(x);
    if (fraction == 0 || std::isinf(x)) return not_a_number;
    return digamma_of(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * fraction);
  }
  double y = 0;
  for (; x < 10; ++x) y -= 1 / x;
  const double z = 1 / (x * x);
  const double tail =
      1.0 / 12 -
      z * (1.0 / 120 - z * (1.0 / 252 - z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12))))));
  return y + std::log(x) - 0.5 / x - z * tail;
}

double polygamma_of(int n, double x) {
  if (std::isnan(x) || x == -infinity) return not_a_number;
  const double s = n + 1, sign = n % 2 == 0 ? -1 : 1;
  double sum;
  if (x == infinity) {
    sum = 0;
  } else if (x > 0) {
    sum = zeta(s, x);
  } else {
    // x = f - m, 0 < f < 1: the m terms below 0 are those of 1 - f with their signs turned where s is odd.
    const double below = std::floor(x), f = x - below;
    if (f == 0) return sign * infinity;
    sum = zeta(s, f) - sign * (zeta(s, 1 - x) - zeta(s, 1 - f));
  }
  return sign * std::tgamma(s) * sum;
}

double erfinv_of(double x) {
  const double a = std::abs(x);
  if (!(a <= 1)) return not_a_number;
  if (a == 1) return std::copysign(infinity, x);
  // Newton's way from a value that is near; beyond 1/2 by the tail, which keeps its digits.
  const bool tail = a > 0.5;
  double y = tail ? -normal_quantile((1 - a) / 2) / std::numbers::sqrt2 : a / 2 / std::numbers::inv_sqrtpi;
  for (int step = 0; step < 4; ++step) {
    const double error = tail ? (1 - a) - std::erfc(y) : std::erf(y) - a;
    y -= error * std::exp(y * y) / 2 / std::numbers::inv_sqrtpi;
  }
  return std::copysign(y, x);
}

double bessel_i(int order, double x) {
  const double z = std::abs(x);
  double sum = 1, term = 1;
  if (z < 30) {
    const double square = z * z / 4;
    term = sum = order == 0 ? 1 : z / 2;
    for (int k = 1; term > sum * 1e-17; ++k) sum += term *= square / (k * (k + order));
  } else if (!std::isinf(z)) {
    for (int k = 1; std::abs(term) > 1e-17; ++k) sum += term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * z);
    const double root = std::exp(z / 2);  // e^z itself overflows earlier
    sum *= root / std::sqrt(2 * std::numbers::pi * z) * root;
  } else {
    sum = infinity;
  }
  return order == 1 && x < 0 ? -sum : std::isnan(x) ? x : sum;
}

}  // namespace xgrad::detail
