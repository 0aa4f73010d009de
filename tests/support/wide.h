// Lambdas of a program that was compiled for every processor (ops/kernels/registers/wide.h), on each level that this
// one has. For the tests in double and in float, both of which are compiled without flags for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {

#ifdef __x86_64__
#ifndef XGRAD_WIDE_LOOPS
#error "compiled with flags for one processor: nothing would be tested"
#endif

/// f of n numbers by the loop of one level; NaN if this processor has it not.
template <class F>
std::vector<Real> on_level(detail::Level level, const std::vector<Real>& x, const F& f) {
  std::vector<Real> y(x.size(), std::numeric_limits<Real>::quiet_NaN());
  const detail::RowInput in{x.data(), 1};
  const auto n = static_cast<std::int64_t>(x.size());
  if (n == 0) return y;
  if (level == detail::Level::base) detail::map_row(y.data(), n, f, in);
  if (level == detail::Level::v3) detail::wide_v3::map_row(y.data(), n, f, in);
  if (level == detail::Level::v4) detail::wide_v4::map_row(y.data(), n, f, in);
  return y;
}

inline std::vector<detail::Level> levels_here() {
  std::vector<detail::Level> levels{detail::Level::base};
  if (detail::level_of_kernels() >= detail::Level::v3) levels.push_back(detail::Level::v3);
  if (detail::level_of_kernels() >= detail::Level::v4) levels.push_back(detail::Level::v4);
  return levels;
}

/// Whether a and b differ by a few roundings at most, NaN and infinities alike.
inline bool nearly(Real a, Real b) {
  if (a == b || (a != a && b != b)) return true;
  return std::abs(a - b) <= 8 * std::numeric_limits<Real>::epsilon() * std::max(std::abs(a), std::abs(b)) +
                                std::numeric_limits<Real>::min();
}

/// One function of lambdas on every level, for rows of many lengths and for NaN, against the library's own.
template <class F>
void check_levels(const char* name, Tensor (*library)(const Tensor&), const F& f) {
  for (const std::int64_t n : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 100}) {
    Array x(Shape{n});
    for (std::int64_t i = 0; i < n; ++i) x.mutable_data()[i] = static_cast<Real>(0.37 * double(i % 13) - 2.1);
    const Real limits[] = {0, Real(-0.0), 1, -1, std::numeric_limits<Real>::infinity(), -std::numeric_limits<Real>::infinity(),
                           std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::max(), Real(0.5), Real(-0.5)};
    if (n >= 31) std::copy(std::begin(limits), std::end(limits), x.mutable_data() + n - 12);
    const Array expected = library(Tensor(x)).value();
    for (const detail::Level level : levels_here()) {
      const std::vector<Real> y = on_level(level, std::vector<Real>(x.begin(), x.end()), f);
      for (std::int64_t i = 0; i < n; ++i) {
        INFO(name, " of ", x.data()[i], " at ", i, " of ", n, ", level ", static_cast<int>(level));
        CHECK(nearly(y[static_cast<std::size_t>(i)], expected.data()[i]));
      }
    }
  }
}

#define XGRAD_CHECK_LEVELS(f) \
  check_levels(#f, [](const Tensor& x) { return Tensor(f(x)); }, [](auto v) { return f(v); })

/// All functions that fused.h names.
inline void check_all_functions() {
  XGRAD_CHECK_LEVELS(abs);
  XGRAD_CHECK_LEVELS(sign);
  XGRAD_CHECK_LEVELS(sqrt);
  XGRAD_CHECK_LEVELS(exp);
  XGRAD_CHECK_LEVELS(expm1);
  XGRAD_CHECK_LEVELS(exp2);
  XGRAD_CHECK_LEVELS(log);
  XGRAD_CHECK_LEVELS(log1p);
  XGRAD_CHECK_LEVELS(log2);
  XGRAD_CHECK_LEVELS(log10);
  XGRAD_CHECK_LEVELS(sin);
  XGRAD_CHECK_LEVELS(cos);
  XGRAD_CHECK_LEVELS(tan);
  XGRAD_CHECK_LEVELS(asin);
  XGRAD_CHECK_LEVELS(acos);
  XGRAD_CHECK_LEVELS(atan);
  XGRAD_CHECK_LEVELS(sinh);
  XGRAD_CHECK_LEVELS(cosh);
  XGRAD_CHECK_LEVELS(tanh);
  XGRAD_CHECK_LEVELS(asinh);
  XGRAD_CHECK_LEVELS(acosh);
  XGRAD_CHECK_LEVELS(atanh);
  XGRAD_CHECK_LEVELS(erf);
  XGRAD_CHECK_LEVELS(sigmoid);
  XGRAD_CHECK_LEVELS(floor);
  XGRAD_CHECK_LEVELS(ceil);
  XGRAD_CHECK_LEVELS(round);
  XGRAD_CHECK_LEVELS(trunc);
  check_levels(
      "pow", [](const Tensor& x) { return pow(abs(x), 1.5); }, [](auto v) { return pow(abs(v), 1.5); });
  check_levels(
      "maximum", [](const Tensor& x) { return maximum(x, Tensor(Real(0.25))); }, [](auto v) { return maximum(v, 0.25); });
  check_levels(
      "minimum", [](const Tensor& x) { return minimum(Tensor(Real(0.25)), x); }, [](auto v) { return minimum(0.25, v); });
  check_levels(
      "where", [](const Tensor& x) { return where((x > 0 && !(x >= 2)) || x == -1, x * 2, 1 - x / 4); },
      [](auto v) { return where((v > 0 && !(v >= 2)) || v == -1, v * 2, 1 - v / 4); });
  check_levels(
      "where of numbers", [](const Tensor& x) { return where(x > 0.5, 1, 0); }, [](auto v) { return where(v > 0.5, 1, 0); });
  check_levels(
      "comparisons", [](const Tensor& x) { return where(x < 1 && x <= 0.5 && x != 0, -x, x + 1); },
      [](auto v) { return where(v < 1 && v <= 0.5 && v != 0, -v, v + 1); });
}
#undef XGRAD_CHECK_LEVELS

#else
inline void check_all_functions() {}
#endif

/// y = a b^2 of the user's own, with broadcasting and its gradients, against operations of the library.
inline void check_own_operation() {
  const auto own = [](const Tensor& a, const Tensor& b) {
    return elementwise(
        "own", a, b, [](auto p, auto q) { return p * q * q; }, [](auto, auto q, auto) { return q * q; },
        [](auto p, auto q, auto) { return 2 * p * q; });
  };
  const auto composed = [](const Tensor& a, const Tensor& b) { return a * square(b); };
  const std::pair<Shape, Shape> shapes[] = {{{}, {}},         {{0, 3}, {3}},     {{5}, {5}},         {{33}, {1}},
                                            {{7, 40}, {40}}, {{7, 1}, {7, 21}}, {{3, 1, 17}, {4, 1}}, {{300, 100}, {300, 100}}};
  for (const auto& pair : shapes) {
    const Shape &first = pair.first, &second = pair.second;
    INFO(cat(first), " and ", cat(second));
    const Tensor a = variable(normal(first)), b = variable(normal(second, 2));
    const Tensor y = own(a, b), z = composed(a, b);
    const double tolerance = 64 * std::numeric_limits<Real>::epsilon();
    check_close(y.value(), z.value(), tolerance);
    const Tensor seed(normal(y.shape(), 3));
    const auto slopes = grad(y, {a, b}, {.seed = seed}), expected = grad(z, {a, b}, {.seed = seed});
    for (std::size_t i = 0; i < 2; ++i) check_close(slopes[i].value(), expected[i].value(), tolerance * 300);
  }
}

}  // namespace xgrad::testing
