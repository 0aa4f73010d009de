// The inner loops of the optimizers with a rate for each number, besides Adam: one pass over a block of a parameter for
// each step. `sign` is 1, or -1 to go up the gradient; `pull` times x is what weight decay adds to the gradient;
// `shrink` is what decoupled weight decay leaves of x.
#pragma once

#include <cstdint>

#include "../../core/config.h"

namespace xgrad::optim {

/// The numbers of one step.
struct RmspropNumbers {
  Real rate, old_v, new_v, eps, momentum, pull, sign;
};
/// v moves towards g^2, x by g over its root; with a mean (or nullptr) less the mean's square, with momentum in b.
void rmsprop_block(Real* x, const Real* g, Real* v, Real* b, Real* mean, std::int64_t count, const RmspropNumbers& c);

/// The numbers of one step.
struct AdagradNumbers {
  Real rate, eps, pull, sign;
};
/// Adds up g^2; x moves by g over the root of the sum.
void adagrad_block(Real* x, const Real* g, Real* sum, std::int64_t count, const AdagradNumbers& c);

/// The numbers of one step.
struct AdadeltaNumbers {
  Real rate, old_part, new_part, eps, pull, sign;
};
/// v moves towards g^2, d towards the square of the step, which is g times the root of d over that of v.
void adadelta_block(Real* x, const Real* g, Real* v, Real* d, std::int64_t count, const AdadeltaNumbers& c);

/// The numbers of one step.
struct NadamNumbers {
  Real new_m, old_v, new_v;
  Real from_g, from_m;  ///< x <- x - (from_g g + from_m m) / (root sqrt(v) + eps)
  Real root, eps, shrink, pull, sign;
};
void nadam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const NadamNumbers& c);

/// The numbers of one step.
struct RadamNumbers {
  Real new_m, old_v, new_v;
  bool adaptive;  ///< x <- x - rate m / (sqrt(v) + eps), else x - rate m
  Real rate, eps, shrink, pull, sign;
};
void radam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const RadamNumbers& c);

/// The numbers of one step.
struct LionNumbers {
  Real rate, shrink;
  Real step_m, step_g;  ///< x moves along the sign of step_m m + step_g g
  Real old_m, new_m;    ///< m <- old_m m + new_m g
  Real sign;
};
void lion_block(Real* x, const Real* g, Real* m, std::int64_t count, const LionNumbers& c);

}  // namespace xgrad::optim
