// Adding up gradients.
#pragma once

#include <cstdint>

#include "../../base/config.h"

namespace xgrad {

/// to[i] += from[i] for i below n.
void add_to(Real* to, const Real* from, std::int64_t n);
/// sum[i] = a[i] + b[i] for i below n.
void add_arrays(Real* sum, const Real* a, const Real* b, std::int64_t n);

}  // namespace xgrad
