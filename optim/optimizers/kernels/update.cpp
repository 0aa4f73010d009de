#include "update.h"

#include <cmath>

namespace xgrad::optim {

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
