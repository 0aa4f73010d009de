// The errors of products in float: on registers, by the BLAS, and in bfloat16 parts on tiles, whose bits are those of AMX.
#include <cmath>
#include <cstdint>
#include <functional>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/ops/kernels/products/blas.h>
#include <xgrad/ops/kernels/products/gemm.h>

#include "support/products.h"

using namespace xgrad;

namespace {

constexpr std::int64_t m = 64, n = 64;

using Distribution = std::function<Real(double uniform, double normal)>;
using Multiply = std::function<void(const Gemm& p, const Factor& a, const Factor& b, Real* c)>;

Array drawn(const Distribution& draw, std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  Array x = random_normal({rows, columns}, RandomKey{seed, 0});
  const Array u = random_uniform({rows, columns}, RandomKey{seed, 1});
  for (std::int64_t i = 0; i < x.size(); ++i) x.mutable_data()[i] = draw(u.data()[i], x.data()[i]);
  return x;
}

}  // namespace

int main() {
  const std::vector<std::pair<std::string, Distribution>> draws{
      {"uniform in (-1, 1)", [](double u, double) { return static_cast<Real>(2 * u - 1); }},
      {"uniform in (0, 1)", [](double u, double) { return static_cast<Real>(u); }},
      {"normal", [](double, double x) { return static_cast<Real>(x); }},
      {"normal times 2 to the power of -20 to 20",
       [](double u, double x) { return static_cast<Real>(x * std::exp2(40 * u - 20)); }}};
  const auto on_tiles = [](int parts) -> Multiply {
    return [parts](Gemm p, const Factor& a, const Factor& b, Real* c) {
      p.rounding = {&testing::plain_tiles_unit, parts};
      detail::bfloat_gemm(p, a, b, c, n);
    };
  };
  const std::vector<Multiply> ways{
      [](const Gemm& p, const Factor& a, const Factor& b, Real* c) { gemm(p, a, b, c, n); },
      [](const Gemm& p, const Factor& a, const Factor& b, Real* c) { detail::blas_product(p, a, b, c, n); },
      on_tiles(3), on_tiles(2), on_tiles(1)};
  std::cout << "| factors | k | float | OpenBLAS | three parts | two | one |\n|---|---|---|---|---|---|---|\n"
            << std::setprecision(2);
  for (const auto& [name, draw] : draws) {
    for (const std::int64_t k : {128, 512, 2048, 8192}) {
      const Array a = drawn(draw, m, k, 1), b = drawn(draw, k, n, 2);
      std::cout << "| " << name << " | " << k << " |";
      for (const Multiply& way : ways) {
        std::vector<Real> c(m * n);
        way({.m = m, .n = n, .k = k}, {a.data(), k}, {b.data(), n}, c.data());
        const auto [most, mean] = testing::errors_of(c, a, b);
        std::cout << ' ' << most << ", " << mean << " |";
      }
      std::cout << '\n';
    }
  }
}
