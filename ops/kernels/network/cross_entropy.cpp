// Each row in two passes: the maximum, then the powers and their sum.
#include "cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../../core/runtime/parallel.h"
#include "../registers/rows.h"

namespace xgrad {
namespace {

// sum_j e^(x_j) = e^shift total. In two parts: in a sum, a large shift would swallow the digits of ln total. Where all
// are -inf the total counts as 1, so that every loss is inf and every probability 0.
struct RowTotal {
  Real shift, total;
};
constexpr std::int64_t row_total_size = 2;

// One pass for the maximum, one for the sum.
RowTotal total_of(const Real* x, std::int64_t V) {
  const Real most = max_of_row(x, V), shift = most == -infinity ? 0 : most;
  const Real total = sum_packs(V, [&](std::int64_t j, auto part) { return exp(part.load(x + j, -infinity) - shift); });
  return {shift, total == 0 ? 1 : total};
}

// The number of smoothed classes: those with a logit other than -inf.
std::int64_t count_open(const Real* x, std::int64_t V) { return V - std::count(x, x + V, -infinity); }

Real row_loss(const Real* x, std::int64_t target, const RowTotal& row, Real smoothing, std::int64_t V) {
  const Real log_total = std::log(row.total);
  // A weight of 0 times a loss that may be infinite is 0, not NaN.
  Real loss = smoothing < 1 ? (1 - smoothing) * ((row.shift - x[target]) + log_total) : Real(0);
  if (smoothing > 0) {
    const Real distances = sum_packs(V, [&](std::int64_t j, auto part) {
      const Pack v = part.load(x + j, -infinity);
      return where(v == -infinity, 0, row.shift - v);
    });
    loss += smoothing / static_cast<Real>(V) * (static_cast<Real>(count_open(x, V)) * log_total + distances);
  }
  return loss;
}

}  // namespace

CrossEntropyRows cross_entropy_rows(const Array& logits, const Targets& targets) {
  CrossEntropyRows result{Array(targets.classes.shape()),
                          Array(Shape{targets.classes.size(), row_total_size}, Real(0))};
  Real* losses = result.losses.mutable_data();
  Real* totals = result.totals.mutable_data();
  const std::int64_t V = targets.V;
  parallel_for(targets.classes.size(), rows_per_block(V), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      losses[i] = 0;
      if (!targets.counts(i)) continue;
      const Real* x = logits.data() + i * V;
      const RowTotal row = total_of(x, V);
      totals[i * row_total_size] = row.shift;
      totals[i * row_total_size + 1] = row.total;
      losses[i] = row_loss(x, targets.classes.data()[i], row, targets.smoothing, V);
    }
  });
  return result;
}

Array cross_entropy_gradient_rows(Array logits, const Targets& targets, const Array& totals, const Array& gy) {
  const Real* const in = logits.data();
  Array result = logits.unique() ? std::move(logits) : Array(logits.shape());
  Real* const out = result.mutable_data();
  const std::int64_t V = targets.V;
  const Real smoothing = targets.smoothing, each = smoothing / static_cast<Real>(V);
  const bool one_gradient = gy.size() == 1;
  parallel_for(targets.classes.size(), rows_per_block(V), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Real* x = in + i * V;
      Real* g = out + i * V;
      if (!targets.counts(i)) {
        std::fill_n(g, V, Real(0));
        continue;
      }
      const RowTotal row{totals.data()[i * row_total_size], totals.data()[i * row_total_size + 1]};
      const Real above = gy.data()[one_gradient ? 0 : i], factor = above / row.total;
      if (smoothing > 0) {
        const Real mass = 1 - smoothing + each * static_cast<Real>(count_open(x, V));
        each_pack(V, [&](std::int64_t j, auto part) {
          const Pack v = part.load(x + j);
          part.store(factor * mass * exp(v - row.shift) - above * where(v == -infinity, 0, each), g + j);
        });
      } else {
        each_pack(V, [&](std::int64_t j, auto part) { part.store(factor * exp(part.load(x + j) - row.shift), g + j); });
      }
      g[targets.classes.data()[i]] -= above * (1 - smoothing);
    }
  });
  return result;
}

}  // namespace xgrad
