// The numbers of a step are taken by value: the compiler cannot tell references to them from the arrays.
#include "adaptive.h"

#include <cmath>
#include <limits>

#include "squares.h"

namespace xgrad::optim {
namespace {

template <bool momentum, bool centered>
void rmsprop_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict v, Real* __restrict b,
                  Real* __restrict mean, std::int64_t count, const RmspropNumbers c) {
  const std::optional<FlushTinyNumbers> flush = flush_if(c.eps > 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = squarable(c.sign * g[i] + c.pull * x[i]);
    v[i] = c.old_v * v[i] + c.new_v * gi * gi;
    Real variance = v[i];
    if constexpr (centered) {
      mean[i] += c.new_v * (gi - mean[i]);
      variance -= mean[i] * mean[i];
      variance = variance < 0 ? 0 : variance;  // by rounding
    }
    const Real step = gi / (std::sqrt(variance) + c.eps);
    if constexpr (momentum) {
      b[i] = c.momentum * b[i] + step;
      x[i] -= c.rate * b[i];
    } else {
      x[i] -= c.rate * step;
    }
  }
}

void adagrad_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict sum, std::int64_t count,
                  const AdagradNumbers c) {
  constexpr Real largest = std::numeric_limits<Real>::max();
  const std::optional<FlushTinyNumbers> flush = flush_if(c.eps > 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = squarable(c.sign * g[i] + c.pull * x[i]);
    const Real grown = sum[i] + gi * gi;
    sum[i] = grown > largest ? largest : grown;
    x[i] -= c.rate * gi / (std::sqrt(sum[i]) + c.eps);
  }
}

void adadelta_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict v, Real* __restrict d,
                   std::int64_t count, const AdadeltaNumbers c) {
  const std::optional<FlushTinyNumbers> flush = flush_if(c.eps > 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = squarable(c.sign * g[i] + c.pull * x[i]);
    v[i] = c.old_part * v[i] + c.new_part * gi * gi;
    const Real step = std::sqrt(d[i] + c.eps) / std::sqrt(v[i] + c.eps) * gi;
    d[i] = c.old_part * d[i] + c.new_part * step * step;
    x[i] -= c.rate * step;
  }
}

// What NAdam and RAdam share: both moments move, then x by what step(g, m, v) says.
template <class Step>
void adam_kin_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict m, Real* __restrict v,
                   std::int64_t count, const AdamKinNumbers c, const Step step) {
  const std::optional<FlushTinyNumbers> flush = flush_if(c.eps > 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = squarable(c.sign * g[i] + c.pull * x[i]);
    m[i] += c.new_m * (gi - m[i]);
    v[i] = c.old_v * v[i] + c.new_v * gi * gi;
    x[i] = c.shrink * x[i] - step(gi, m[i], v[i]);
  }
}

void adamax_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict m, Real* __restrict u,
                 std::int64_t count, const AdamaxNumbers c) {
  const std::optional<FlushTinyNumbers> flush = flush_if(c.eps > 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = c.sign * g[i] + c.pull * x[i] + 0 * g[i];  // NaN for infinity
    m[i] += c.new_m * (gi - m[i]);
    const Real faded = c.old_u * u[i], now = std::abs(gi) + c.eps;
    u[i] = faded > now ? faded : now;
    x[i] -= c.rate * m[i] / u[i];
  }
}

void asgd_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict average, std::int64_t count,
               const AsgdNumbers c) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = c.sign * g[i] + c.pull * x[i] + 0 * g[i];  // NaN for infinity
    x[i] = c.shrink * x[i] - c.rate * gi;
    average[i] = c.to_average == 1 ? x[i] : average[i] + c.to_average * (x[i] - average[i]);
  }
}

void rprop_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict before, Real* __restrict length,
                std::int64_t count, const RpropNumbers c) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = c.sign * g[i] + 0 * g[i];  // NaN for infinity
    const Real turn = gi * before[i];
    const Real grown = length[i] * (turn > 0 ? c.up : turn < 0 ? c.down : turn == 0 ? Real(1) : turn);
    length[i] = grown < c.shortest ? c.shortest : grown > c.longest ? c.longest : grown;
    const Real way = turn < 0 ? Real(0) : gi;
    x[i] -= length[i] * (way > 0 ? Real(1) : way < 0 ? Real(-1) : way);
    before[i] = way;
  }
}

void lion_loop(Real* __restrict x, const Real* __restrict g, Real* __restrict m, std::int64_t count,
               const LionNumbers c) {
  const FlushTinyNumbers flush;
  for (std::int64_t i = 0; i < count; ++i) {
    const Real gi = c.sign * g[i] + 0 * g[i];  // NaN for infinity
    const Real way = c.step_m * m[i] + c.step_g * gi;
    x[i] = c.shrink * x[i] - c.rate * (way > 0 ? Real(1) : way < 0 ? Real(-1) : way);
    m[i] = c.old_m * m[i] + c.new_m * gi;
  }
}

}  // namespace

void rmsprop_block(Real* x, const Real* g, Real* v, Real* b, Real* mean, std::int64_t count, const RmspropNumbers& c) {
  if (b) {
    mean ? rmsprop_loop<true, true>(x, g, v, b, mean, count, c) : rmsprop_loop<true, false>(x, g, v, b, mean, count, c);
  } else {
    mean ? rmsprop_loop<false, true>(x, g, v, b, mean, count, c)
         : rmsprop_loop<false, false>(x, g, v, b, mean, count, c);
  }
}

void adagrad_block(Real* x, const Real* g, Real* sum, std::int64_t count, const AdagradNumbers& c) {
  adagrad_loop(x, g, sum, count, c);
}

void adadelta_block(Real* x, const Real* g, Real* v, Real* d, std::int64_t count, const AdadeltaNumbers& c) {
  adadelta_loop(x, g, v, d, count, c);
}

void nadam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const NadamNumbers& c) {
  const auto step = [c](Real gi, Real mi, Real vi) {
    return (c.from_g * gi + c.from_m * mi) / (std::sqrt(vi) * c.root + c.eps);
  };
  adam_kin_loop(x, g, m, v, count, c, step);
}

void radam_block(Real* x, const Real* g, Real* m, Real* v, std::int64_t count, const RadamNumbers& c) {
  const Real rate = c.rate, eps = c.eps;
  if (c.adaptive) {
    adam_kin_loop(x, g, m, v, count, c,
                  [rate, eps](Real, Real mi, Real vi) { return rate * (mi / (std::sqrt(vi) + eps)); });
  } else {
    adam_kin_loop(x, g, m, v, count, c, [rate](Real, Real mi, Real) { return rate * mi; });
  }
}

void adamax_block(Real* x, const Real* g, Real* m, Real* u, std::int64_t count, const AdamaxNumbers& c) {
  adamax_loop(x, g, m, u, count, c);
}

void asgd_block(Real* x, const Real* g, Real* average, std::int64_t count, const AsgdNumbers& c) {
  asgd_loop(x, g, average, count, c);
}

void rprop_block(Real* x, const Real* g, Real* before, Real* length, std::int64_t count, const RpropNumbers& c) {
  rprop_loop(x, g, before, length, count, c);
}

void lion_block(Real* x, const Real* g, Real* m, std::int64_t count, const LionNumbers& c) {
  lion_loop(x, g, m, count, c);
}

}  // namespace xgrad::optim
