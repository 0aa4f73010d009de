// Operations on blocks of numbers besides the step of an optimizer (loops.h): sums, averages, scaling.
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

namespace xgrad::optim {

/// Numbers that one thread updates at a time.
inline constexpr std::int64_t block = 1 << 14;

/// The sum of (scale g)^2 of a block, in an order that does not depend on the machine.
double sum_of_squares_block(const Real* g, std::int64_t count, double scale);
/// The sum of a b of a block, in an order that does not depend on the machine.
double dot_block(const Real* a, const Real* b, std::int64_t count);
/// The sum of |g / unit|^order of a block.
double sum_of_powers_block(const Real* g, std::int64_t count, double unit, double order);
/// average <- decay average + (1 - decay) x
void average_block(Real* average, const Real* x, std::int64_t count, double decay);
/// g *= factor, which may be too small for a float although the product is not.
void scale_block(Real* g, std::int64_t count, double factor);

}  // namespace xgrad::optim
