// Each text separately: forward in time for the sum, backward for the posterior of each label.
#include "ctc.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../../../core/runtime/parallel.h"

namespace xgrad {
namespace {



// ln(e^a + e^b). NaN if either is NaN, whichever of the two is the maximum.
double log_add(double a, double b) {
  if (a == -infinity) return b;
  if (b == -infinity) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

// The logarithm of a product, given logarithms. The sum of an unreachable label stays -inf, even if the factor is NaN.
double log_product(double sum, double factor) { return sum == -infinity ? sum : sum + factor; }

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

  double at(std::int64_t t, std::int64_t s) const { return static_cast<double>(log_probs[t * stride + labels[s]]); }
  // Whether a way may go from s - 2 to s: between two different letters the blank may be left out.
  bool may_skip(std::int64_t s) const { return s >= 2 && labels[s] != labels[s - 2]; }
  // From the alphas of the last step: a way ends at the last letter or at the blank after it.
  double loss(const double* alpha) const {
    return -(count > 1 ? log_add(alpha[count - 1], alpha[count - 2]) : alpha[count - 1]);
  }
};

}  // namespace

CtcForward ctc_forward(const Array& log_probs, const CtcTexts& texts) {
  const std::int64_t T = log_probs.dim(0), N = log_probs.dim(1), L = texts.labels.dim(1);
  Array losses(Shape{N});
  auto alphas = std::make_shared<CtcForward::Alphas>(static_cast<std::size_t>(Shape{N, T, L}.numel()), -infinity);
  Real* const to = losses.mutable_data();
  parallel_for(N, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const Sample sample(log_probs, texts, n);
      double* alpha = alphas->data() + n * T * L;
      for (std::int64_t s = 0; s < std::min<std::int64_t>(2, sample.count); ++s) alpha[s] = sample.at(0, s);
      for (std::int64_t t = 1; t < sample.steps; ++t, alpha += L) {
        for (std::int64_t s = 0; s < sample.count; ++s) {
          double before = alpha[s];
          if (s >= 1) before = log_add(before, alpha[s - 1]);
          if (sample.may_skip(s)) before = log_add(before, alpha[s - 2]);
          alpha[L + s] = log_product(before, sample.at(t, s));
        }
      }
      to[n] = static_cast<Real>(sample.loss(alpha));
    }
  });
  return {std::move(losses), std::move(alphas)};
}

Array ctc_gradient(const Array& log_probs, const CtcTexts& texts, const CtcForward& forward, const Array& gy) {
  const std::int64_t T = log_probs.dim(0), N = log_probs.dim(1), C = log_probs.dim(2), L = texts.labels.dim(1);
  Array result(log_probs.shape(), Real(0));
  Real* out = result.mutable_data();
  parallel_for(N, 1, [&](std::int64_t begin, std::int64_t end) {
    // beta_s: ln of the sum over the continuations after label s, without this step. `posteriors`: by class.
    std::vector<double> beta(static_cast<std::size_t>(L)), next(beta), posteriors(static_cast<std::size_t>(C), 0);
    for (std::int64_t n = begin; n < end; ++n) {
      const Sample sample(log_probs, texts, n);
      const double* const alphas = forward.alphas->data() + n * T * L;
      const double loss = sample.loss(alphas + (sample.steps - 1) * L);
      if (loss == infinity) continue;
      const auto posterior_of = [&](std::int64_t s) -> double& {
        return posteriors[static_cast<std::size_t>(sample.labels[s])];
      };
      std::fill(beta.begin(), beta.end(), -infinity);
      beta[static_cast<std::size_t>(sample.count - 1)] = 0;
      if (sample.count > 1) beta[static_cast<std::size_t>(sample.count - 2)] = 0;
      for (std::int64_t t = sample.steps - 1; t >= 0; --t) {
        const double* alpha = alphas + t * L;
        Real* g = out + n * C + t * sample.stride;
        for (std::int64_t s = 0; s < sample.count; ++s) {
          const double later = beta[static_cast<std::size_t>(s)];
          if (later != -infinity) posterior_of(s) += std::exp(log_product(alpha[s], later + loss));
        }
        for (std::int64_t s = 0; s < sample.count; ++s) {
          g[sample.labels[s]] = -gy.data()[n] * static_cast<Real>(posterior_of(s));
        }
        for (std::int64_t s = 0; s < sample.count; ++s) posterior_of(s) = 0;
        const auto ahead = [&](std::int64_t s) {
          return log_product(beta[static_cast<std::size_t>(s)], sample.at(t, s));
        };
        for (std::int64_t s = 0; s < sample.count; ++s) {
          double after = ahead(s);
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
