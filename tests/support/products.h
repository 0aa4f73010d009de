// Random products by gemm against three loops, for both number types and in bfloat16.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/text.h>
#include <xgrad/ops/kernels/products/product.h>

#include "support/bfloat16.h"
#include "support/threads.h"

namespace xgrad::testing {

struct ProductCase {
  Gemm p;
  bool a_transposed = false, b_transposed = false, with_bias = false;
  std::string sizes() const { return str(p.m, " x ", p.k, " x ", p.n, ", transposed: ", a_transposed, b_transposed); }
};

/// A random product whose factors and result have rows longer than they need to be: `c` as it was left, `error` the
/// largest one in units of the square root of k + 1, infinite if anything but the elements of c was written; 0 if it is
/// not to be compared.
struct ProductResult {
  std::vector<Real> c;
  double error = 0;
};

inline ProductResult run_product(const ProductCase& test, bool compare = true) {
  constexpr std::int64_t gap = 3;
  constexpr Real untouched = -77;
  Gemm p = test.p;
  const bool ta = test.a_transposed, tb = test.b_transposed;
  const Array a = random_normal({ta ? p.k : p.m, (ta ? p.m : p.k) + gap}, RandomKey{11, 0});
  const Array b = random_normal({tb ? p.n : p.k, (tb ? p.k : p.n) + gap}, RandomKey{12, 0});
  const Array bias = random_normal({p.n}, RandomKey{13, 0});
  const Real before = p.keep == 0 ? std::numeric_limits<Real>::quiet_NaN() : Real(0.5);
  const std::int64_t step = p.n + gap;

  ProductResult result{std::vector<Real>(static_cast<std::size_t>(p.m * step), untouched)};
  const auto at = [&](std::int64_t i, std::int64_t j) -> Real& {
    return result.c[static_cast<std::size_t>(i * step + j)];
  };
  for (std::int64_t i = 0; i < p.m; ++i) std::fill_n(&at(i, 0), p.n, before);
  if (test.with_bias) p.bias = bias.data();
  gemm(p, {a.data(), a.dim(1), ta}, {b.data(), b.dim(1), tb}, result.c.data(), step);
  if (!compare) return result;

  const auto factor = [&](Real x) { return p.rounding.unit ? Real(rounded(static_cast<float>(x))) : x; };
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < step; ++j) {
      long double expected = untouched;
      if (j < p.n) {
        expected = (p.keep == 0 ? 0 : p.keep * before) + (test.with_bias ? bias.data()[j] : 0);
        for (std::int64_t k = 0; k < p.k; ++k) {
          expected += p.scale * double{factor(ta ? a.data()[k * a.dim(1) + i] : a.data()[i * a.dim(1) + k])} *
                      factor(tb ? b.data()[j * b.dim(1) + k] : b.data()[k * b.dim(1) + j]);
        }
      }
      const double error = static_cast<double>(std::abs(at(i, j) - expected)) / std::sqrt(static_cast<double>(p.k) + 1);
      const bool wrong = std::isnan(error) || (j >= p.n && error != 0);
      result.error = std::max(result.error, wrong ? std::numeric_limits<double>::infinity() : error);
    }
  }
  return result;
}

/// The product has the same bits for any number of threads.
inline void check_threads(const ProductCase& test) {
  const ThreadCount one(1);
  const ProductResult alone = run_product(test, false);
  for (const int count : {2, 3, 7}) {
    const ThreadCount several(count);
    CHECK(run_product(test, false).c == alone.c);
  }
}

/// The errors of a product in units of 2^-24 of the sum of the sizes of its terms: the largest, and the root of the
/// mean square.
struct ProductErrors {
  double most = 0, mean = 0;
};
/// Those of c (m, n), which a product of a (m, k) and b (k, n) has written.
inline ProductErrors errors_of(const std::vector<Real>& c, const Array& a, const Array& b) {
  const std::int64_t m = a.dim(0), k = a.dim(1), n = b.dim(1);
  ProductErrors errors;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double exact = 0, size = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double product = double{a.at({i, l})} * b.at({l, j});
        exact += product;
        size += std::abs(product);
      }
      const double error = std::abs(c[static_cast<std::size_t>(i * n + j)] - exact) / size * 0x1p24;
      errors.most = std::max(errors.most, error);
      errors.mean += error * error;
    }
  }
  errors.mean = std::sqrt(errors.mean / static_cast<double>(m * n));
  return errors;
}

/// Sizes around the edges of tiles, panels and blocks, all transpositions, with and without what c held and a bias.
inline std::vector<ProductCase> product_cases() {
  std::vector<ProductCase> cases;
  const std::vector<std::array<std::int64_t, 3>> sizes{
      {1, 1, 1},     {7, 9, 3},     {8, 8, 8},      {13, 16, 5},    {14, 17, 16},   {15, 31, 33},  {28, 32, 64},
      {29, 33, 255}, {70, 64, 256}, {71, 65, 257},  {100, 10, 300}, {10, 129, 513}, {43, 160, 40}, {5, 200, 7},
      {64, 128, 17}, {16, 1030, 9}, {33, 2053, 20}, {300, 8, 2},    {9, 64, 0},     {0, 5, 3},     {128, 130, 100},
      {1, 50, 100},  {2, 11, 33},   {3, 40, 17},    {4, 70, 64},    {6, 31, 200},   {11, 25, 130}, {16, 9, 48},
      {50, 1, 100},  {70, 4, 129},  {90, 7, 20},    {40, 2, 9000},  {1, 1, 9000},   {3, 20, 9000}};
  int number = 0;
  for (const auto& [m, n, k] : sizes) {
    for (int transposed = 0; transposed < 4; ++transposed, ++number) {
      ProductCase test{.p = {.m = m, .n = n, .k = k},
                       .a_transposed = (transposed & 1) != 0,
                       .b_transposed = (transposed & 2) != 0,
                       .with_bias = number % 3 == 0};
      if (number % 5 == 1) test.p.scale = Real(0.25);
      if (number % 4 == 2) test.p.keep = number % 8 == 2 ? Real(1) : Real(-2);
      cases.push_back(test);
    }
  }
  return cases;
}

}  // namespace xgrad::testing
