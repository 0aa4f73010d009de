// Losses. Cross-entropy has a kernel of its own: softmax, logarithm and choice in one pass over each row.
#include "loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../core/grad.h"
#include "../core/parallel.h"
#include "../core/record.h"
#include "arithmetic.h"
#include "elementwise.h"
#include "fused.h"
#include "index.h"
#include "normalize.h"
#include "reduce.h"
#include "kernels/rows.h"
#include "shape.h"

namespace xgrad {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

void check_smoothing(Real smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail<ValueError>("cross_entropy", "label_smoothing ", smoothing, " is not in [0, 1]");
  }
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return sum(losses);
    case Reduction::mean:
      return losses.size() == 0 ? sum(losses) : mean(losses);
    case Reduction::none:
      break;
  }
  return losses;
}

// Class targets of a batch of rows, checked.
struct Targets {
  Index classes;  // (...)
  std::optional<std::int64_t> ignored;
  Real smoothing;
  std::int64_t V;

  bool counts(std::int64_t row) const { return !ignored || classes.data()[row] != *ignored; }
  std::int64_t counted() const {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < classes.size(); ++i) count += counts(i);
    return count;
  }
};

// sum_j e^(x_j) = e^shift total. In two parts: added up, a large shift would swallow the digits of ln total. Where all
// are -inf the total counts as 1, so that every loss is inf and every probability 0.
struct RowTotal {
  Real shift, total;
};
constexpr std::int64_t row_total_size = 2;

// One pass for the maximum, which must not be +inf, one for the sum.
RowTotal total_of(const Real* x, std::int64_t V, Real most) {
  const Real shift = most == -infinity ? 0 : most;
  const Real total = sum_packs(V, [&](std::int64_t j, auto part) { return exp(part.load(x + j, -infinity) - shift); });
  return {shift, total == 0 ? 1 : total};
}

// What smoothing shares out its part among: the classes whose logit is not -inf.
std::int64_t count_open(const Real* x, std::int64_t V) { return V - std::count(x, x + V, -infinity); }

Real row_loss(const Real* x, std::int64_t target, const RowTotal& row, Real smoothing, std::int64_t V) {
  const Real log_total = std::log(row.total);
  Real loss = (1 - smoothing) * ((row.shift - x[target]) + log_total);
  if (smoothing > 0) {
    const Real distances = sum_packs(V, [&](std::int64_t j, auto part) {
      const Pack v = part.load(x + j, -infinity);
      return where(v == -infinity, 0, row.shift - v);
    });
    loss += smoothing / static_cast<Real>(V) * (static_cast<Real>(count_open(x, V)) * log_total + distances);
  }
  return loss;
}

struct Losses {
  Array losses;
  Array totals;  // (rows, 2): shift and total of every row that counts; the shift is inf if such logits were replaced
};

Losses losses_of(const Array& logits, const Targets& targets) {
  Losses result{Array(targets.classes.shape()), Array(Shape{targets.classes.size(), row_total_size}, Real(0))};
  Real* losses = result.losses.mutable_data();
  Real* totals = result.totals.mutable_data();
  const std::int64_t V = targets.V;
  parallel_for(targets.classes.size(), rows_per_block(V), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Real, PoolAllocator<Real>> replaced;
    for (std::int64_t i = begin; i < end; ++i) {
      losses[i] = 0;
      if (!targets.counts(i)) continue;
      const Real* x = logits.data() + i * V;
      const Real most = max_of_row(x, V);
      if (most == infinity) {
        replaced.resize(static_cast<std::size_t>(V));
        replace_infinities(x, replaced.data(), V);
        x = replaced.data();
      }
      const RowTotal row = total_of(x, V, most == infinity ? 0 : most);
      totals[i * row_total_size] = most == infinity ? infinity : row.shift;
      totals[i * row_total_size + 1] = row.total;
      losses[i] = row_loss(x, targets.classes.data()[i], row, targets.smoothing, V);
    }
  });
  return result;
}

// gy_i (mass p - q) for each row: p = softmax, q the smoothed target, mass what q adds up to.
Array logits_gradient(const Array& logits, const Targets& targets, const Array& totals, const Array& gy) {
  Array result(logits.shape());
  Real* out = result.mutable_data();
  const std::int64_t V = targets.V;
  const Real smoothing = targets.smoothing, each = smoothing / static_cast<Real>(V);
  const bool shared = gy.size() == 1;
  parallel_for(targets.classes.size(), rows_per_block(V), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Real* x = logits.data() + i * V;
      Real* g = out + i * V;
      if (!targets.counts(i)) {
        std::fill_n(g, V, Real(0));
        continue;
      }
      RowTotal row{totals.data()[i * row_total_size], totals.data()[i * row_total_size + 1]};
      const Real above = gy.data()[shared ? 0 : i], share = above / row.total;
      if (row.shift == infinity) {
        replace_infinities(x, g, V);
        x = g;
        row.shift = 0;
      }
      if (smoothing > 0) {
        const Real mass = 1 - smoothing + each * static_cast<Real>(count_open(x, V));
        each_pack(V, [&](std::int64_t j, auto part) {
          const Pack v = part.load(x + j);
          part.store(share * mass * exp(v - row.shift) - above * where(v == -infinity, 0, each), g + j);
        });
      } else {
        each_pack(V, [&](std::int64_t j, auto part) { part.store(share * exp(part.load(x + j) - row.shift), g + j); });
      }
      g[targets.classes.data()[i]] -= above * (1 - smoothing);
    }
  });
  return result;
}

// The same in single operations: what the kernel is tested against and differentiated through.
Tensor composed_losses(const Tensor& logits, const Targets& targets) {
  const Shape& shape = targets.classes.shape();
  Shape whole = shape;
  whole.push_back(targets.V);
  Array chosen(whole, Real(0)), every(whole, Real(0));
  for (std::int64_t i = 0; i < targets.classes.size(); ++i) {
    if (!targets.counts(i)) continue;
    chosen.mutable_data()[i * targets.V + targets.classes.data()[i]] = 1 - targets.smoothing;
    std::fill_n(every.mutable_data() + i * targets.V, targets.V, targets.smoothing / static_cast<Real>(targets.V));
  }
  const Tensor log_p = log_softmax(logits);
  const Tensor finite = where(log_p == -infinity, 0, log_p);
  const Tensor hot(std::move(chosen)), evenly(std::move(every));
  return -sum(where(hot > 0, hot * log_p, 0) + evenly * finite, {.axis = -1});
}

Tensor sample_losses(const Tensor& logits, const Targets& targets) {
  Losses all = losses_of(logits.value(), targets);
  return record("cross_entropy", std::move(all.losses),
                jointly(
                    [logits, targets, totals = all.totals](const Tensor& gy, Wanted wanted) {
                      if (recording()) {
                        return composed_gradients(std::array{logits}, gy, wanted,
                                                  [&](const Tensor& x) { return composed_losses(x, targets); });
                      }
                      return std::array<Tensor, 1>{logits_gradient(logits.value(), targets, totals, gy.value())};
                    },
                    logits));
}

// The sum of the losses times `share`, as one operation: its gradient needs no array of single gradients.
Tensor total_loss(const Tensor& logits, const Targets& targets, Real share) {
  Losses all = losses_of(logits.value(), targets);
  const Real total = sum(Tensor(std::move(all.losses))).item() * share;  // of a constant: not recorded
  return record("cross_entropy", Array(Shape{}, total),
                jointly(
                    [logits, targets, totals = all.totals, share](const Tensor& gy, Wanted wanted) {
                      if (recording()) {
                        return composed_gradients(std::array{logits}, gy, wanted, [&](const Tensor& x) {
                          return sum(composed_losses(x, targets)) * share;
                        });
                      }
                      const Array scaled(Shape{}, gy.value().item() * share);
                      return std::array<Tensor, 1>{logits_gradient(logits.value(), targets, totals, scaled)};
                    },
                    logits));
}

void check_same_shape(const char* op, const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) fail<ShapeError>(op, "shapes differ: ", a.shape(), " and ", b.shape());
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Index& classes, const CrossEntropyOptions& options) {
  if (logits.rank() == 0)
    fail<ShapeError>("cross_entropy", "logits need an axis of classes, shape is ", logits.shape());
  Shape samples = logits.shape();
  samples.erase(samples.rank() - 1);
  if (classes.shape() != samples) {
    fail<ShapeError>("cross_entropy", "logits ", logits.shape(), " need targets of shape ", samples, ", got ",
                     classes.shape());
  }
  check_smoothing(options.label_smoothing);
  const Targets targets{
      .classes = classes, .ignored = options.ignore_index, .smoothing = options.label_smoothing, .V = logits.dim(-1)};
  for (std::int64_t i = 0; i < classes.size(); ++i) {
    const std::int64_t target = classes.data()[i];
    if (targets.counts(i) && (target < 0 || target >= targets.V)) {
      fail<ValueError>("cross_entropy", "target ", target, " of sample ", i, " is not in [0, ", targets.V, ")");
    }
  }
  if (options.reduction == Reduction::none) return sample_losses(logits, targets);
  const std::int64_t count = options.reduction == Reduction::mean ? std::max<std::int64_t>(targets.counted(), 1) : 1;
  return total_loss(logits, targets, 1 / static_cast<Real>(count));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& probabilities, const SoftCrossEntropyOptions& options) {
  if (logits.rank() == 0)
    fail<ShapeError>("cross_entropy", "logits need an axis of classes, shape is ", logits.shape());
  check_same_shape("cross_entropy", logits, probabilities);
  check_smoothing(options.label_smoothing);
  const Real a = options.label_smoothing;
  const Tensor q = a == 0 ? probabilities
                          : probabilities * (1 - a) + a / static_cast<Real>(std::max<std::int64_t>(logits.dim(-1), 1));
  const Tensor log_p = log_softmax(logits);
  const Mask unasked = q == 0 && log_p == -infinity;  // 0 ln 0 = 0
  return reduced(-sum(q * where(unasked, 0, log_p), {.axis = -1}), options.reduction);
}

Tensor mse_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options) {
  check_same_shape("mse_loss", prediction, target);
  return reduced(square(prediction - target), options.reduction);
}

Tensor kl_div(const Tensor& log_prediction, const Tensor& target, const KlDivOptions& options) {
  check_same_shape("kl_div", log_prediction, target);
  const Mask none = target == (options.log_target ? -infinity : 0);
  if (options.log_target) {
    const Tensor distance = where(none, 0, target) - where(none, 0, log_prediction);
    return reduced(exp(target) * distance, options.reduction);
  }
  return reduced(where(none, 0, target * (log(where(none, 1, target)) - where(none, 0, log_prediction))),
                 options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const LossOptions& options) {
  check_same_shape("binary_cross_entropy_with_logits", logits, target);
  // |x| (share of the answer that x speaks against) + ln(1 + e^-|x|)
  const Tensor losses = elementwise(
      "binary_cross_entropy_with_logits", logits, target,
      [](auto x, auto t) {
        const auto against = where(x > 0, 1 - t, t);
        return where(against == 0, 0, abs(x) * against) + log1p(exp(-abs(x)));  // also where |x| is inf
      },
      [](auto x, auto t, auto) { return sigmoid(x) - t; }, [](auto x, auto, auto) { return -x; });
  return reduced(losses, options.reduction);
}

}  // namespace xgrad
