// Losses. Cross-entropy has a kernel of its own (kernels/cross_entropy.cpp).
#include "loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../core/formula.h"
#include "../core/record_fused.h"
#include "../core/shape_hints.h"
#include "arithmetic.h"
#include "elementwise.h"
#include "kernels/cross_entropy.h"
#include "lambda.h"
#include "reduce.h"
#include "softmax.h"

namespace xgrad {
namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

void check_smoothing(Real smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail<ValueError>("cross_entropy", "label_smoothing ", smoothing, " is not in [0, 1]");
  }
}

// What the mean is taken over has to be there.
void refuse_nothing(const char* op, const Tensor& x, std::int64_t samples, Reduction reduction) {
  if (reduction == Reduction::mean && samples == 0) {
    fail<ValueError>(op, "there is no mean of nothing, the shape is ", x.shape());
  }
}

Tensor reduced(const char* op, const Tensor& losses, Reduction reduction) {
  refuse_nothing(op, losses, losses.size(), reduction);
  switch (reduction) {
    case Reduction::sum:
      return sum(losses);
    case Reduction::mean:
      return mean(losses);
    case Reduction::none:
      break;
  }
  return losses;
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

XGRAD_FORMULA cross_entropy_formula{"cross_entropy",
                                    "y = -sum_i q_i ln p_i for each sample with p = softmax(x), q_i = (1 - s) (1 if i "
                                    "= target, else 0) + s/V, s = label_smoothing",
                                    "dL/dx_i = gy (p_i - q_i)"};

// One loss for each sample.
Tensor sample_losses(const Tensor& logits, const Targets& targets) {
  CrossEntropyRows rows = cross_entropy_rows(logits.value(), targets);
  return record_fused(
      "cross_entropy", std::move(rows.losses), std::array{logits},
      [targets, totals = rows.totals](const std::array<Tensor, 1>& in, const Tensor& gy, Wanted) {
        return std::array<Tensor, 1>{cross_entropy_gradient_rows(in[0].value(), targets, totals, gy.value())};
      },
      [targets](const Tensor& x) { return composed_losses(x, targets); }, told("targets", targets.classes),
      told("ignore_index", targets.ignored), told("label_smoothing", unless(0, targets.smoothing)));
}

// The sum of the losses times `share`, as one operation: its gradient needs no array of single gradients.
Tensor total_loss(const Tensor& logits, const Targets& targets, Real share) {
  CrossEntropyRows rows = cross_entropy_rows(logits.value(), targets);
  const Real total = sum(Tensor(std::move(rows.losses))).item() * share;  // of a constant: not recorded
  return record_fused(
      "cross_entropy", Array(Shape{}, total), std::array{logits},
      [targets, totals = rows.totals, share](const std::array<Tensor, 1>& in, const Tensor& gy, Wanted) {
        const Array scaled(Shape{}, gy.value().item() * share);
        return std::array<Tensor, 1>{cross_entropy_gradient_rows(in[0].value(), targets, totals, scaled)};
      },
      [targets, share](const Tensor& x) { return sum(composed_losses(x, targets)) * share; },
      told("targets", targets.classes), told("ignore_index", targets.ignored),
      told("label_smoothing", unless(0, targets.smoothing)));
}

void check_same_shape(const char* op, const Tensor& a, const Tensor& b) {
  if (a.shape() == b.shape()) return;
  fail<ShapeError>(op, "shapes differ: ", a.shape(), " and ", b.shape(), detail::same_shape_hint(a.shape(), b.shape()));
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
  refuse_nothing("cross_entropy", logits, classes.size(), options.reduction);
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
  return reduced("cross_entropy", -sum(q * where(unasked, 0, log_p), {.axis = -1}), options.reduction);
}

Tensor mse_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options) {
  check_same_shape("mse_loss", prediction, target);
  return reduced("mse_loss", square(prediction - target), options.reduction);
}

Tensor kl_div(const Tensor& log_prediction, const Tensor& target, const KlDivOptions& options) {
  check_same_shape("kl_div", log_prediction, target);
  const Mask none = target == (options.log_target ? -infinity : 0);
  if (options.log_target) {
    const Tensor distance = where(none, 0, target) - where(none, 0, log_prediction);
    return reduced("kl_div", exp(target) * distance, options.reduction);
  }
  return reduced("kl_div", where(none, 0, target * (log(where(none, 1, target)) - where(none, 0, log_prediction))),
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
  return reduced("binary_cross_entropy_with_logits", losses, options.reduction);
}

}  // namespace xgrad
