// What the twelve links of "your own engine" stand on: a table of numbers, and random ones. A number is a table of one
// row and one column.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

struct Matrix {
  int rows = 1, cols = 1;
  std::vector<double> v = std::vector<double>(static_cast<std::size_t>(rows * cols));
  double& at(int i, int j) { return v[place(i, j)]; }
  double at(int i, int j) const { return v[place(i, j)]; }

  std::size_t place(int i, int j) const {
    if (i < 0 || i >= rows || j < 0 || j >= cols) outside(i, j);
    return static_cast<std::size_t>(i * cols + j);
  }
  [[noreturn, gnu::cold]] void outside(int i, int j) const {
    throw std::out_of_range("row " + std::to_string(i) + ", column " + std::to_string(j) + " of a table of " +
                            std::to_string(rows) + " rows and " + std::to_string(cols) + " columns");
  }
};

// f of each element of x, and of each pair of elements of two tables of one shape.
template <class F>
Matrix map(Matrix x, F f) {
  std::transform(x.v.begin(), x.v.end(), x.v.begin(), f);
  return x;
}
template <class F>
Matrix map(Matrix a, const Matrix& b, F f) {
  std::transform(a.v.begin(), a.v.end(), b.v.begin(), a.v.begin(), f);
  return a;
}

struct Random {  // xorshift64* (Vigna 2016): the same numbers on every machine
  std::uint64_t state;
  explicit Random(std::uint64_t seed) : state(0x9e3779b97f4a7c15 * (seed + 1)) {}
  std::uint32_t operator()() {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return static_cast<std::uint32_t>((state * 0x2545f4914f6cdd1d) >> 32);
  }
};
inline double between_0_and_1(Random& random) { return random() / 4294967296.0; }
inline Matrix uniform(int rows, int cols, double limit, Random& random) {  // -limit ... limit
  return map(Matrix{rows, cols}, [&](double) { return limit * (2 * between_0_and_1(random) - 1); });
}

using Ids = std::vector<int>;  // tokens
