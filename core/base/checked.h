// Sums and products of sizes that do not overflow unseen. What an array can hold is checked by Shape::numel; these are
// for the numbers that a shape is made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "error.h"

namespace xgrad {

/// a + b. Throws LimitError, naming the operation, when the sum does not fit.
inline std::int64_t checked_add(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) fail<LimitError>(op, "the size ", a, " + ", b, " overflows");
  return sum;
}

/// a b. Throws LimitError, naming the operation, when the product does not fit.
inline std::int64_t checked_multiply(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) fail<LimitError>(op, "the size ", a, " * ", b, " overflows");
  return product;
}

}  // namespace xgrad
