// The inner loops of the optimizers: one pass over a block of a parameter for each step.
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

namespace xgrad::optim {

/// Numbers that one thread updates at a time.
inline constexpr std::int64_t block = 1 << 14;

/// The numbers of one step.
struct AdamNumbers {
  Real old_m, new_m, old_v, new_v;
  Real rate;  ///< lr / (1 - b1^t)
  Real root;  ///< 1 / sqrt(1 - b2^t)
  Real eps;
  Real shrink;  ///< what decoupled weight decay leaves of x
  Real pull;    ///< times x is what weight decay adds to the gradient
};
/// m and v move towards g and its square, x by their quotient.
void adam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const AdamNumbers& c);
/// The same with -g for g.
void adam_up_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const AdamNumbers& c);
/// The same, with g or -g, with the largest v so far in place of v in the quotient.
void amsgrad_block(Real* x, const Real* g, Real* m, Real* v, Real* largest_v, std::int64_t count, const AdamNumbers& c,
                   bool maximize);

/// The numbers of one step.
struct SgdNumbers {
  Real rate, decay;
  Real old_b, new_b;    ///< b <- old_b b + new_b g
  Real from_g, from_b;  ///< x <- x - rate (from_g g + from_b b)
  bool maximize = false;
};
/// x -= rate (g + decay x)
void sgd_block(Real* x, const Real* g, std::int64_t count, const SgdNumbers& c);
/// The same with a momentum buffer b.
void sgd_momentum_block(Real* x, const Real* g, Real* b, std::int64_t count, const SgdNumbers& c);

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
