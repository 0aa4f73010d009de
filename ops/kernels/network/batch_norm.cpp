// Each channel is copied into a contiguous row.
#include "batch_norm.h"

#include <vector>

#include "../registers/rows.h"

namespace xgrad {
namespace {

using Row = std::vector<Real, PoolAllocator<Real>>;

// The numbers of a channel from or to their places in (N, C, L).
void gather(const Channels& in, const Real* from, std::int64_t channel, Real* row) {
  from += channel * in.L;
  for (std::int64_t n = 0; n < in.N; ++n) std::copy_n(from + n * in.C * in.L, in.L, row + n * in.L);
}
void scatter(const Channels& in, const Real* row, std::int64_t channel, Real* to) {
  to += channel * in.L;
  for (std::int64_t n = 0; n < in.N; ++n) std::copy_n(row + n * in.L, in.L, to + n * in.C * in.L);
}

}  // namespace

void batch_norm_channels(const Channels& in, Real eps, Real* y, RowStatistics* statistics) {
  const std::int64_t count = in.N * in.L;
  parallel_for(in.C, rows_per_block(count), [&](std::int64_t begin, std::int64_t end) {
    Row row(static_cast<std::size_t>(count));
    Real* v = row.data();
    for (std::int64_t channel = begin; channel < end; ++channel) {
      gather(in, in.x, channel, v);
      const RowStatistics s = statistics[channel] = row_statistics(v, count, eps);
      const Pack mean(s.mean), mean_low(s.mean_low), scale(s.scale);
      const Pack slope(in.gamma ? in.gamma[channel] : 1), offset(in.beta ? in.beta[channel] : 0);
      each_pack(count, [=](std::int64_t i, auto part) {
        part.store((part.load(v + i) - mean - mean_low) * scale * slope + offset, v + i);
      });
      scatter(in, v, channel, y);
    }
  });
}

LayerNormGradients batch_norm_gradient_channels(const Channels& in, const Real* statistics, const Real* gy,
                                                const LayerNormWanted& wanted) {
  const std::int64_t count = in.N * in.L;
  LayerNormGradients all{.x = Array(wanted.x ? Shape{in.N, in.C, in.L} : Shape{0}),
                         .gamma = Array(wanted.gamma ? Shape{in.C} : Shape{0}),
                         .beta = Array(wanted.beta ? Shape{in.C} : Shape{0})};
  Real *to_x = all.x.mutable_data(), *to_gamma = all.gamma.mutable_data(), *to_beta = all.beta.mutable_data();
  parallel_for(in.C, rows_per_block(count), [&](std::int64_t begin, std::int64_t end) {
    Row row(static_cast<std::size_t>(count)), gradient(static_cast<std::size_t>(count));
    Real *u = row.data(), *g = gradient.data();
    for (std::int64_t channel = begin; channel < end; ++channel) {
      gather(in, in.x, channel, u);
      gather(in, gy, channel, g);
      const Real* saved = statistics + channel * statistics_size;
      const Pack mean(saved[0]), mean_low(saved[1]), scale(saved[2]);
      const Real sum = sum_packs(count, [=](std::int64_t i, auto part) { return part.load(g + i); });
      const Real product = sum_packs(count, [=](std::int64_t i, auto part) {
        const Pack standard = (part.load(u + i, saved[0]) - mean - mean_low) * scale;
        part.store(standard, u + i);
        return part.load(g + i) * standard;
      });
      if (wanted.gamma) to_gamma[channel] = product;
      if (wanted.beta) to_beta[channel] = sum;
      if (!wanted.x) continue;
      const Pack offset(sum / static_cast<Real>(count)), slope(product / static_cast<Real>(count));
      const Pack factor = scale * Pack(in.gamma ? in.gamma[channel] : 1);
      each_pack(count, [=](std::int64_t i, auto part) {
        part.store((part.load(g + i) - offset - part.load(u + i) * slope) * factor, g + i);
      });
      scatter(in, g, channel, to_x);
    }
  });
  return all;
}

}  // namespace xgrad
