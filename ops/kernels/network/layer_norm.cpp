// Each row in three passes: mean, variance, result.
#include "layer_norm.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "../reduce/reduce.h"
#include "../registers/rows.h"

namespace xgrad {
namespace {

// The statistics of rows next to one another, step by step: each step waits for the one before, but not for that of
// another row.
template <int rows>
void find_statistics(const Real* x, std::int64_t n, Real eps, Centre centre, RowStatistics (&all)[rows]) {
  const auto count = static_cast<Real>(n);
  Real sum[rows], squares[rows];
  if (centre == Centre::zero) {
    for (int r = 0; r < rows; ++r) {
      squares[r] = sum_packs(n, [u = x + r * n](std::int64_t i, auto part) {
        const Pack v = part.load(u + i);
        return v * v;
      });
    }
    for (int r = 0; r < rows; ++r) {
      const Real mean_square = squares[r] / count;
      all[r] = {0, 0, 1 / std::sqrt(mean_square + eps), mean_square};
    }
    return;
  }
  for (int r = 0; r < rows; ++r) {
    sum[r] = sum_packs(n, [u = x + r * n](std::int64_t i, auto part) { return part.load(u + i); });
  }
  for (int r = 0; r < rows; ++r) all[r].mean = sum[r] / count;
  for (int r = 0; r < rows; ++r) {
    const auto centred = [u = x + r * n, mean = all[r].mean](std::int64_t i, auto part) {
      return part.load(u + i, mean) - Pack(mean);
    };
    sum[r] = sum_packs(n, centred);
    squares[r] = sum_packs(n, [&](std::int64_t i, auto part) {
      const Pack d = centred(i, part);
      return d * d;
    });
  }
  for (int r = 0; r < rows; ++r) {
    const Real mean_low = sum[r] / count, variance = std::max(squares[r] / count - mean_low * mean_low, Real(0));
    all[r] = {all[r].mean, mean_low, 1 / std::sqrt(variance + eps), variance};
  }
}

}  // namespace

RowStatistics row_statistics(const Real* x, std::int64_t n, Real eps) {
  RowStatistics of_row[1];
  find_statistics(x, n, eps, Centre::mean, of_row);
  return of_row[0];
}

void layer_norm_rows(const LayerNormRows& in, Real eps, Real* y, Real* statistics) {
  const std::int64_t n = in.n;
  const Real *slope = in.gamma, *offset = in.beta;
  const auto some_rows = [=, &in]<int count>(std::integral_constant<int, count>, std::int64_t first) {
    const Real* u = in.x + first * n;
    RowStatistics all[count];
    find_statistics(u, n, eps, in.centre, all);
    for (int r = 0; r < count; ++r, u += n) {
      const RowStatistics& s = all[r];
      std::copy_n(&s.mean, statistics_size, statistics + (first + r) * statistics_size);
      each_pack(n, [&](std::int64_t i, auto part) {
        Pack v = (part.load(u + i) - Pack(s.mean) - Pack(s.mean_low)) * Pack(s.scale);
        if (slope) v = v * part.load(slope + i);
        if (offset) v = v + part.load(offset + i);
        part.store(v, y + (first + r) * n + i);
      });
    }
  };
  parallel_for(in.rows, rows_per_block(n), [=](std::int64_t begin, std::int64_t end) {
    constexpr int together = 4;
    std::int64_t row = begin;
    for (; row + together <= end; row += together) some_rows(std::integral_constant<int, together>(), row);
    for (; row < end; ++row) some_rows(std::integral_constant<int, 1>(), row);
  });
}

LayerNormGradients layer_norm_gradient_rows(const LayerNormRows& in, const Real* statistics, const Real* gy,
                                            const LayerNormWanted& wanted) {
  const std::int64_t rows = in.rows, n = in.n;
  const Real* gamma = in.gamma;
  constexpr std::int64_t most_rows = 256;  // more in one chain of additions would lose digits
  const std::int64_t block = std::min(rows_per_block(n), most_rows), blocks = (rows + block - 1) / block;
  Array gx(wanted.x ? Shape{rows, n} : Shape{0});
  Array ggamma(wanted.gamma ? Shape{blocks, n} : Shape{0}, Real(0)),
      gbeta(wanted.beta ? Shape{blocks, n} : Shape{0}, Real(0));
  Real *to_x = gx.mutable_data(), *to_gamma = ggamma.mutable_data(), *to_beta = gbeta.mutable_data();
  parallel_for(rows, block, [&](std::int64_t begin, std::int64_t end) {
    Real* gamma_sum = to_gamma + begin / block * n;
    Real* beta_sum = to_beta + begin / block * n;
    for (std::int64_t row = begin; row < end; ++row) {
      const Real* u = in.x + row * n;
      const Real* g = gy + row * n;
      const Real* saved = statistics + row * statistics_size;
      const Pack mean(saved[0]), mean_low(saved[1]), scale(saved[2]);
      const auto standard = [&](std::int64_t i, auto part) { return (part.load(u + i) - mean - mean_low) * scale; };
      if (wanted.gamma) {
        each_pack(n, [&](std::int64_t i, auto part) {
          part.store(part.load(gamma_sum + i) + part.load(g + i) * standard(i, part), gamma_sum + i);
        });
      }
      if (wanted.beta) {
        each_pack(n, [&](std::int64_t i, auto part) {
          part.store(part.load(beta_sum + i) + part.load(g + i), beta_sum + i);
        });
      }
      if (!wanted.x) continue;
      const auto scaled = [&](std::int64_t i, auto part) {
        return gamma ? part.load(g + i) * part.load(gamma + i) : part.load(g + i);
      };
      const Real count = static_cast<Real>(n);
      const Pack offset(in.centre == Centre::mean ? sum_packs(n, scaled) / count : Real(0));
      const Pack slope(sum_packs(n, [&](std::int64_t i, auto part) { return scaled(i, part) * standard(i, part); }) /
                       count);
      each_pack(n, [&](std::int64_t i, auto part) {
        part.store((scaled(i, part) - offset - standard(i, part) * slope) * scale, to_x + row * n + i);
      });
    }
  });
  return {.x = std::move(gx),
          .gamma = wanted.gamma ? sum_over(ggamma, {0}, {n}) : Array(),
          .beta = wanted.beta ? sum_over(gbeta, {0}, {n}) : Array()};
}

}  // namespace xgrad
