// Adding up gradients.
#include "add.h"

namespace xgrad {

void add_to(Real* to, const Real* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

void add_arrays(Real* sum, const Real* a, const Real* b, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

}  // namespace xgrad
