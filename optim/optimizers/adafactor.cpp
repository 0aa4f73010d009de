// Adafactor: the sizes of a parameter and of its step are known before it moves, so there are several passes.
#include "adafactor.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../options.h"
#include "kernels/loops.h"

namespace xgrad::optim {
namespace {

Shape rows_of(const Shape& x) {
  if (x.size() < 2) return {0};
  Shape shape = x;
  shape[x.size() - 1] = 1;
  return shape;
}

Shape columns_of(const Shape& x) {
  if (x.size() < 2) return {0};
  Shape shape = x;
  shape[x.size() - 2] = 1;
  return shape;
}

Shape vector_of(const Shape& x) { return x.size() < 2 ? x : Shape{0}; }

double root_mean_square(double sum, std::int64_t count) { return std::sqrt(sum / static_cast<double>(count)); }

}  // namespace

Adafactor::Settings Adafactor::settings(const Options& options) {
  if (!(options.beta2_decay <= 0) || std::isinf(options.beta2_decay)) {
    fail<ValueError>(kind, "beta2_decay ", options.beta2_decay, " is positive or not finite");
  }
  if (!(options.d >= 1) || std::isinf(options.d)) fail<ValueError>(kind, "d ", options.d, " is below 1 or not finite");
  return {{"beta2_decay", options.beta2_decay},
          {"eps[0]", options.eps[0], Setting::not_negative},
          {"eps[1]", options.eps[1], Setting::not_negative},
          {"d", options.d},
          {"weight_decay", options.weight_decay, Setting::not_negative},
          {"maximize", double(options.maximize)}};
}

Adafactor::Moments Adafactor::moments(const Options&) {
  return {{"row_var", false, 0, rows_of}, {"col_var", false, 0, columns_of}, {"variance", false, 0, vector_of}};
}

void Adafactor::advance(Array& x, const Array& g, Memory& memory, const Options& options, double lr) {
  if (x.size() == 0) return;
  const double t = static_cast<double>(memory.steps + 1);
  const Real w = static_cast<Real>(std::pow(t, options.beta2_decay)), eps = static_cast<Real>(options.eps[0]),
             shrink = static_cast<Real>(1 - lr * options.weight_decay);
  const double size_of_x = root_mean_square(sum_of_squares_block(x.data(), x.size(), 1), x.size());
  const double length = std::max(options.eps[1], size_of_x) * std::min(lr, 1 / std::sqrt(t));
  // A vector is a row.
  const bool matrix = x.rank() > 1;
  const std::int64_t n = x.rank() == 0 ? 1 : x.dim(-1), m = matrix ? x.dim(-2) : 1, matrices = x.size() / (m * n);
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real *const r = memory.moments[0].mutable_data(), *const c = memory.moments[1].mutable_data(),
              *const v = memory.moments[2].mutable_data();

  for (std::int64_t i = 0; !matrix && i < n; ++i) {
    const Real gi = squarable(gs[i]);
    v[i] += w * (gi * gi - v[i]);
  }
  for (std::int64_t k = 0; matrix && k < matrices; ++k) {
    for (std::int64_t j = 0; j < n; ++j) c[k * n + j] *= 1 - w;
    for (std::int64_t row = k * m; row < (k + 1) * m; ++row) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const Real gj = squarable(gs[row * n + j]);
        sum += double(gj) * double(gj);
        c[k * n + j] += w * (gj * gj / static_cast<Real>(m));
      }
      r[row] += w * (static_cast<Real>(sum / static_cast<double>(n)) - r[row]);
    }
  }

  // visit(i, u) for every number, with u its step before scaling.
  const auto for_each_step = [&](const auto& visit) {
    for (std::int64_t k = 0; k < matrices; ++k) {
      const double mean_of_r = matrix ? std::accumulate(r + k * m, r + (k + 1) * m, 0.0) / static_cast<double>(m) : 1;
      for (std::int64_t row = k * m; row < (k + 1) * m; ++row) {
        const Real part = matrix ? r[row] / std::max(static_cast<Real>(mean_of_r), eps) : Real(1);
        const Real* const of_row = matrix ? c + k * n : v;
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t i = row * n + j;
          visit(i, squarable(gs[i]) / std::sqrt(std::max(part * of_row[j], eps * eps)));
        }
      }
    }
  };
  double sum = 0;
  for_each_step([&](std::int64_t, Real u) { sum += double(u) * double(u); });
  const double clipped = length / std::max(1.0, root_mean_square(sum, x.size()) / options.d);
  const Real rate = static_cast<Real>(options.maximize ? -clipped : clipped);
  for_each_step([&](std::int64_t i, Real u) { xs[i] = shrink * xs[i] - rate * u; });
}

}  // namespace xgrad::optim
