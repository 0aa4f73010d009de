// The numbers of a step are taken by value: the compiler cannot tell references to them from the arrays.
#include "update.h"

#include <cmath>
#include <optional>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace xgrad::optim {
namespace {

// While it lives, numbers too small to be normalised count as 0 in this thread. Moments that fade away would otherwise
// pass through them, at a hundred cycles for every operation.
class FlushTinyNumbers {
 public:
#ifdef __SSE2__
  FlushTinyNumbers() : was_(_mm_getcsr()) { _mm_setcsr(was_ | flush_results | flush_operands); }
  ~FlushTinyNumbers() { _mm_setcsr(was_); }

 private:
  static constexpr unsigned flush_results = 0x8000, flush_operands = 0x0040;
  unsigned was_;
#else
  FlushTinyNumbers() {}
#endif
 public:
  FlushTinyNumbers(const FlushTinyNumbers&) = delete;
  FlushTinyNumbers& operator=(const FlushTinyNumbers&) = delete;
};

// The largest gradient whose square v can hold, with room for what rounding adds.
constexpr Real largest_gradient = sizeof(Real) == sizeof(float) ? Real(0x1p63) : Real(0x1p511);

// m moves towards g by steps of 1 - b1 from where it was, or, if that is more than half the way, from g back by steps
// of b1: m is g then when b1 is 0.
template <bool from_g>
void adam_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict m, Real* __restrict v, std::int64_t count,
               const AdamNumbers c) {
  const std::optional<FlushTinyNumbers> flush = c.eps > 0 ? std::make_optional<FlushTinyNumbers>() : std::nullopt;
  for (std::int64_t i = 0; i < count; ++i) {
    const Real wanted = g[i] + c.pull * x[i];
    const Real limited = wanted > largest_gradient    ? largest_gradient
                         : wanted < -largest_gradient ? -largest_gradient
                                                      : wanted;
    const Real gi = limited + 0 * wanted;  // NaN for infinity
    m[i] = from_g ? gi - c.old_m * (gi - m[i]) : m[i] + c.new_m * (gi - m[i]);
    v[i] = c.old_v * v[i] + c.new_v * gi * gi;
    x[i] = c.shrink * x[i] - c.rate * m[i] / (std::sqrt(v[i]) * c.root + c.eps);
  }
}

void sgd_loop(Real* __restrict x, const Real* __restrict g, std::int64_t count, const SgdNumbers c) {
  for (std::int64_t i = 0; i < count; ++i) x[i] -= c.rate * (g[i] + c.decay * x[i]);
}

void momentum_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict b, std::int64_t count,
                   const SgdNumbers c) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = g[i] + c.decay * x[i];
    b[i] = c.old_b * b[i] + c.new_b * gi;
    x[i] -= c.rate * (c.from_g * gi + c.from_b * b[i]);
  }
}

}  // namespace

void adam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const AdamNumbers& c) {
  c.old_m < c.new_m ? adam_loop<true>(x, g, m, v, count, c) : adam_loop<false>(x, g, m, v, count, c);
}

void sgd_block(Real* x, const Real* g, std::int64_t count, const SgdNumbers& c) { sgd_loop(x, g, count, c); }
void sgd_momentum_block(Real* x, const Real* g, Real* b, std::int64_t count, const SgdNumbers& c) {
  momentum_loop(x, g, b, count, c);
}

double sum_of_squares_block(const Real* g, std::int64_t count, double scale) {
  // Eight sums side by side keep the vector unit busy; their number is part of the result, not of the machine.
  double lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) {
      const double value = scale * static_cast<double>(g[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (; i < count; ++i) {
    const double value = scale * static_cast<double>(g[i]);
    lanes[0] += value * value;
  }
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

void scale_block(Real* g, std::int64_t count, double factor) {
  for (std::int64_t i = 0; i < count; ++i) g[i] = static_cast<Real>(factor * static_cast<double>(g[i]));
}

}  // namespace xgrad::optim
