// The inner loops of the optimizers with a rate for each number, besides Adam: one pass over a block of a parameter for
// each step. `sign` is 1, or -1 to go up the gradient; `pull` times x is what weight decay adds to the gradient;
// `shrink` is what decoupled weight decay leaves of x.
#pragma once

#include <cstdint>

#include "../../../core/base/config.h"

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

/// The numbers of a step that NAdam and RAdam share.
struct AdamKinNumbers {
  Real new_m, old_v, new_v, eps, shrink, pull, sign;
};

/// The numbers of one step.
struct NadamNumbers : AdamKinNumbers {
  Real from_g, from_m, root;  ///< x <- x - (from_g g + from_m m) / (root sqrt(v) + eps)
};
void nadam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const NadamNumbers& c);

/// The numbers of one step.
struct RadamNumbers : AdamKinNumbers {
  bool adaptive;  ///< x <- x - rate m / (sqrt(v) + eps), else x - rate m
  Real rate;
};
void radam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const RadamNumbers& c);

/// The numbers of one step.
struct AdamaxNumbers {
  Real new_m, old_u, rate, eps, pull, sign;
};
/// m moves towards g, u is the largest |g|, which fades; x moves by m over u.
void adamax_block(Real* x, const Real* g, Real* m, Real* u, std::int64_t count, const AdamaxNumbers& c);

/// The numbers of one step.
struct AsgdNumbers {
  Real rate, shrink, to_average, pull, sign;
};
/// x moves along g, and the average towards x.
void asgd_block(Real* x, const Real* g, Real* average, std::int64_t count, const AsgdNumbers& c);

/// The numbers of one step.
struct RpropNumbers {
  Real down, up, shortest, longest, sign;
};
/// x moves by its length along the sign of g; where that changed, not at all.
void rprop_block(Real* x, const Real* g, Real* before, Real* length, std::int64_t count, const RpropNumbers& c);

/// The numbers of one step.
struct LionNumbers {
  Real rate, shrink;
  Real step_m, step_g;  ///< x moves along the sign of step_m m + step_g g
  Real old_m, new_m;    ///< m <- old_m m + new_m g
  Real sign;
};
void lion_block(Real* x, const Real* g, Real* m, std::int64_t count, const LionNumbers& c);

}  // namespace xgrad::optim
