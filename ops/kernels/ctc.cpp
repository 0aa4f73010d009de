// Each text by itself: forward along time for the sum, backward for how it divides among labels.
#include "ctc.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../../core/parallel.h"

namespace xgrad {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// ln(e^a + e^b).
Real log_add(Real a, Real b) {
  const Real most = std::max(a, b);
  if (most == -infinity) return most;
  return most + std::log1p(std::exp(-std::abs(a - b)));
}

// One text of a batch and its numbers.
struct Sample {
  const std::int64_t* labels;
  std::int64_t count, steps;
  const Real* log_probs;  // of step 0
  std::int64_t stride;    // from step to step

  Sample(const Array& all, const CtcTexts& texts, std::int64_t n)
      : labels(texts.labels.data() + n * texts.labels.dim(1)),
        count(texts.lengths.data()[n]),
        steps(texts.input_lengths.data()[n]),
        log_probs(all.data() + n * all.dim(2)),
        stride(all.dim(1) * all.dim(2)) {}

  Real at(std::int64_t t, std::int64_t s) const { return log_probs[t * stride + labels[s]]; }
  // Whether a way may come to s from s - 2: between two different letters the blank may be left out.
  bool may_skip(std::int64_t s) const { return s >= 2 && labels[s] != labels[s - 2]; }
};

}  // namespace

CtcForward ctc_forward(const Array& log_probs, const CtcTexts& texts) {
  const std::int64_t T = log_probs.dim(0), N = log_probs.dim(1), L = texts.labels.dim(1);
  CtcForward result{Array(Shape{N}), Array(Shape{N, T, L}, -infinity)};
  Real* losses = result.losses.mutable_data();
  Real* alphas = result.alphas.mutable_data();
  parallel_for(N, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const Sample sample(log_probs, texts, n);
      Real* alpha = alphas + n * T * L;
      for (std::int64_t s = 0; s < std::min<std::int64_t>(2, sample.count); ++s) alpha[s] = sample.at(0, s);
      for (std::int64_t t = 1; t < sample.steps; ++t, alpha += L) {
        for (std::int64_t s = 0; s < sample.count; ++s) {
          Real before = alpha[s];
          if (s >= 1) before = log_add(before, alpha[s - 1]);
          if (sample.may_skip(s)) before = log_add(before, alpha[s - 2]);
          alpha[L + s] = before + sample.at(t, s);
        }
      }
      const Real last = alpha[sample.count - 1];
      losses[n] = -(sample.count > 1 ? log_add(last, alpha[sample.count - 2]) : last);
    }
  });
  return result;
}

Array ctc_gradient(const Array& log_probs, const CtcTexts& texts, const CtcForward& forward, const Array& gy) {
  const std::int64_t T = log_probs.dim(0), N = log_probs.dim(1), L = texts.labels.dim(1);
  Array result(log_probs.shape(), Real(0));
  Real* out = result.mutable_data();
  parallel_for(N, 1, [&](std::int64_t begin, std::int64_t end) {
    // beta_s: ln of the sum over what may follow after label s, this step left out.
    std::vector<Real> beta(static_cast<std::size_t>(L)), next(beta);
    for (std::int64_t n = begin; n < end; ++n) {
      const Real loss = forward.losses.data()[n];
      if (loss == infinity) continue;
      const Sample sample(log_probs, texts, n);
      std::fill(beta.begin(), beta.end(), -infinity);
      beta[static_cast<std::size_t>(sample.count - 1)] = 0;
      if (sample.count > 1) beta[static_cast<std::size_t>(sample.count - 2)] = 0;
      for (std::int64_t t = sample.steps - 1; t >= 0; --t) {
        const Real* alpha = forward.alphas.data() + (n * T + t) * L;
        Real* g = out + n * log_probs.dim(2) + t * sample.stride;
        for (std::int64_t s = 0; s < sample.count; ++s) {
          g[sample.labels[s]] -= gy.data()[n] * std::exp(alpha[s] + beta[static_cast<std::size_t>(s)] + loss);
        }
        const auto ahead = [&](std::int64_t s) { return beta[static_cast<std::size_t>(s)] + sample.at(t, s); };
        for (std::int64_t s = 0; s < sample.count; ++s) {
          Real after = ahead(s);
          if (s + 1 < sample.count) after = log_add(after, ahead(s + 1));
          if (s + 2 < sample.count && sample.may_skip(s + 2)) after = log_add(after, ahead(s + 2));
          next[static_cast<std::size_t>(s)] = after;
        }
        beta.swap(next);
      }
    }
  });
  return result;
}

}  // namespace xgrad
