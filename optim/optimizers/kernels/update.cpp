// The numbers of a step are taken by value: the compiler cannot tell references to them from the arrays.
#include "update.h"

#include <cmath>

#include "squares.h"

namespace xgrad::optim {
namespace {

// m moves towards g by steps of 1 - b1 from where it was, or, if that is more than half the way, from g back by steps
// of b1: m is g then when b1 is 0.
template <bool from_g, bool amsgrad, bool maximize>
void adam_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict m, Real* __restrict v,
               Real* __restrict largest_v, std::int64_t count, const AdamNumbers c) {
  const std::optional<FlushTinyNumbers> flush = flush_if(c.eps > 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = squarable((maximize ? -g[i] : g[i]) + c.pull * x[i]);
    m[i] = from_g ? gi - c.old_m * (gi - m[i]) : m[i] + c.new_m * (gi - m[i]);
    v[i] = c.old_v * v[i] + c.new_v * gi * gi;
    if constexpr (amsgrad) largest_v[i] = largest_v[i] > v[i] ? largest_v[i] : v[i];
    x[i] = c.shrink * x[i] - c.rate * m[i] / (std::sqrt(amsgrad ? largest_v[i] : v[i]) * c.root + c.eps);
  }
}

template <bool maximize>
void sgd_loop(Real* __restrict x, const Real* __restrict g, std::int64_t count, const SgdNumbers c) {
  for (std::int64_t i = 0; i < count; ++i) x[i] -= c.rate * ((maximize ? -g[i] : g[i]) + c.decay * x[i]);
}

template <bool maximize>
void momentum_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict b, std::int64_t count,
                   const SgdNumbers c) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = (maximize ? -g[i] : g[i]) + c.decay * x[i];
    b[i] = c.old_b * b[i] + c.new_b * gi;
    x[i] -= c.rate * (c.from_g * gi + c.from_b * b[i]);
  }
}

template <bool amsgrad, bool maximize>
void adam_variant(Real* x, const Real* g, Real* m, Real* v, Real* largest_v, std::int64_t count, const AdamNumbers& c) {
  c.old_m < c.new_m ? adam_loop<true, amsgrad, maximize>(x, g, m, v, largest_v, count, c)
                    : adam_loop<false, amsgrad, maximize>(x, g, m, v, largest_v, count, c);
}

}  // namespace

void adam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const AdamNumbers& c) {
  adam_variant<false, false>(x, g, m, v, nullptr, count, c);
}
void adam_up_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const AdamNumbers& c) {
  adam_variant<false, true>(x, g, m, v, nullptr, count, c);
}
void amsgrad_block(Real* x, const Real* g, Real* m, Real* v, Real* largest_v, std::int64_t count, const AdamNumbers& c,
                   bool maximize) {
  maximize ? adam_variant<true, true>(x, g, m, v, largest_v, count, c)
           : adam_variant<true, false>(x, g, m, v, largest_v, count, c);
}

void sgd_block(Real* x, const Real* g, std::int64_t count, const SgdNumbers& c) {
  c.maximize ? sgd_loop<true>(x, g, count, c) : sgd_loop<false>(x, g, count, c);
}
void sgd_momentum_block(Real* x, const Real* g, Real* b, std::int64_t count, const SgdNumbers& c) {
  c.maximize ? momentum_loop<true>(x, g, b, count, c) : momentum_loop<false>(x, g, b, count, c);
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

double dot_block(const Real* a, const Real* b, std::int64_t count) {
  double lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int lane = 0; lane < 8; ++lane) {
      lanes[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    }
  }
  for (; i < count; ++i) lanes[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

double sum_of_powers_block(const Real* g, std::int64_t count, double unit, double order) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::pow(std::abs(static_cast<double>(g[i])) / unit, order);
  return sum;
}

void average_block(Real* __restrict average, const Real* __restrict x, std::int64_t count, double decay) {
  const Real old_part = static_cast<Real>(decay), new_part = static_cast<Real>(1 - decay);
  if (decay < 0.5) {
    for (std::int64_t i = 0; i < count; ++i) average[i] = x[i] - old_part * (x[i] - average[i]);
  } else {
    for (std::int64_t i = 0; i < count; ++i) average[i] += new_part * (x[i] - average[i]);
  }
}

void scale_block(Real* g, std::int64_t count, double factor) {
  for (std::int64_t i = 0; i < count; ++i) g[i] = static_cast<Real>(factor * static_cast<double>(g[i]));
}

}  // namespace xgrad::optim
