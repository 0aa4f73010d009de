// Numbers drawn for one random case, and which cases a program of tests runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "check.h"

namespace xgrad::testing {

/// Numbers drawn for one case.
class Draw {
 public:
  explicit Draw(std::uint64_t number) : engine_(number) {}

  std::int64_t from(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool one_in(std::int64_t n) { return from(1, n) == 1; }
  bool coin() { return one_in(2); }
  /// Every width of a register and what is left of it, and fewer large ones.
  std::int64_t size(std::int64_t most = 70) {
    return coin() ? from(1, std::min<std::int64_t>(most, 17)) : from(1, most);
  }
  Real real(double low, double high) {
    return static_cast<Real>(low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53);
  }
  Array normal(const Shape& shape) { return testing::normal(shape, engine_() >> 1); }
  Index index(const Shape& shape, std::int64_t low, std::int64_t high) {
    Index numbers(shape);
    for (std::int64_t i = 0; i < numbers.size(); ++i) numbers.mutable_data()[i] = from(low, high);
    return numbers;
  }
  Mask mask(const Shape& shape) {
    Mask all(shape, false);
    const std::int64_t rarity = from(1, 4);
    for (std::int64_t i = 0; i < all.size(); ++i) all.mutable_data()[i] = one_in(rarity);
    return all;
  }
  RandomKey key() { return {.seed = from(0, 1000), .draw = from(0, 1000)}; }

 private:
  std::mt19937_64 engine_;
};

/// A number from the environment.
inline std::int64_t number_from(const char* name, std::int64_t otherwise) {
  const char* given = std::getenv(name);
  return given ? std::atoll(given) : otherwise;
}

/// How many cases are wanted: XGRAD_CASES; and the first of them: XGRAD_SEED, which repeats one case with XGRAD_CASES=1.
inline std::int64_t wanted_cases(std::int64_t otherwise) { return number_from("XGRAD_CASES", otherwise); }
inline std::int64_t first_wanted_case() { return number_from("XGRAD_SEED", 1); }

}  // namespace xgrad::testing
