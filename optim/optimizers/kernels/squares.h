// Utilities for averages of squares: a bound on gradients, and subnormal numbers flushed to 0.
#pragma once

#include "../../../core/base/config.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace xgrad::optim {

/// A scope in which subnormal numbers count as 0 in this thread. Operations on moments that have become subnormal would
/// take a hundred cycles each.
/// Threads: the scope is of one thread.
class FlushDenormals {
 public:
#ifdef __SSE2__
  FlushDenormals() : was_(_mm_getcsr()) { _mm_setcsr(was_ | flush_results | flush_operands); }
  ~FlushDenormals() { _mm_setcsr(was_); }

 private:
  static constexpr unsigned flush_results = 0x8000, flush_operands = 0x0040;
  unsigned was_;
#else
  FlushDenormals() {}
#endif
 public:
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
};

/// The largest gradient whose square a moment can hold, with room for rounding.
inline constexpr Real largest_gradient = sizeof(Real) == sizeof(float) ? Real(0x1p63) : Real(0x1p511);

/// A gradient that can be squared: `g`, or the largest that can with its sign; NaN where g is not finite.
inline Real clamp_for_square(Real g) {
  const Real limited = g > largest_gradient ? largest_gradient : g < -largest_gradient ? -largest_gradient : g;
  return limited + 0 * g;
}

}  // namespace xgrad::optim
