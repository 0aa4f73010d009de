// Losses. Cross-entropy has its own kernel (ops/kernels/network/cross_entropy.cpp).
#include "loss.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../../core/base/formula.h"
#include "../../core/graph/donation.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../elementwise/lambda.h"
#include "../indexing/axis.h"
#include "../indexing/index.h"
#include "../kernels/network/cross_entropy.h"
#include "../kernels/reduce/reduce.h"
#include "../network/softmax.h"
#include "../record_fused.h"
#include "../reduce/reduce.h"
#include "../shape/shape.h"

namespace xgrad {

using detail::check_same_shape;
using detail::reduced;
using detail::refuse_nothing;

namespace {

Real checked_smoothing(double smoothing);
// Throws unless there is a class for each sample of x (..., V), in [0, V) or ignored, and a weight for each class.
Targets checked_targets(const char* op, const char* name, const Tensor& x, const Index& classes, const Tensor& weight,
                        const std::optional<std::int64_t>& ignored, Real smoothing = 0);

// The classes, with class 0 in place of ignored ones.
struct ValidClasses {
  Index classes;
  Mask ignored;
};
ValidClasses valid_classes(const Targets& targets);

// The weight of each sample: that of its class, 0 if it is ignored.
Tensor sample_weights(const ValidClasses& valid, const Tensor& weight);
// -weight ln p of the class of each sample.
Tensor losses_of_classes(const Tensor& log_p, const ValidClasses& valid, const Tensor& weights);
// -sum_c w_c ln p_c of each sample, without classes of probability 0.
Tensor losses_of_all(const Tensor& log_p, const ValidClasses& valid, const Tensor& weight);
// The mean divides by the sum of the weights.
Tensor reduced_by_weight(const char* op, const Tensor& losses, const Tensor& weights, Reduction reduction);

}  // namespace

XGRAD_FORMULA cross_entropy_formula{"cross_entropy",
                                    "y = -sum_i q_i ln p_i for each sample with p = softmax(x), q_i = (1 - s) (1 if i "
                                    "= target, else 0) + s/V, s = label_smoothing",
                                    "dL/dx_i = gy (p_i - q_i)"};
Tensor plain::cross_entropy(const Tensor& logits, const Index& classes, const CrossEntropyOptions& options) {
  const Real a = checked_smoothing(options.label_smoothing);
  const ValidClasses valid =
      valid_classes(checked_targets("cross_entropy", "logits", logits, classes, options.weight, options.ignore_index));
  const Tensor log_p = xgrad::log_softmax(logits), weights = sample_weights(valid, options.weight);
  Tensor losses = losses_of_classes(log_p, valid, (1 - a) * weights);
  if (a > 0) {
    losses = losses + losses_of_all(log_p, valid, options.weight) * (a / static_cast<Real>(logits.dim(-1)));
  }
  return reduced_by_weight("cross_entropy", losses, weights, options.reduction);
}

namespace {

Real checked_smoothing(double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1)) {
    fail<ValueError>("cross_entropy", "label_smoothing ", smoothing, " is not in [0, 1]");
  }
  return static_cast<Real>(smoothing);
}

void check_class_weight(const char* op, const Tensor& weight, std::int64_t V) {
  if (weight.defined() && weight.shape() != Shape{V}) {
    fail<ShapeError>(op, "weight ", weight.shape(), " for ", V, " classes");
  }
}

Targets checked_targets(const char* op, const char* name, const Tensor& x, const Index& classes, const Tensor& weight,
                        const std::optional<std::int64_t>& ignored, Real smoothing) {
  if (x.rank() == 0) fail<ShapeError>(op, name, " need an axis of classes, shape is ", x.shape());
  const Shape samples = leading(x.shape(), 1);
  if (classes.shape() != samples) {
    Shape without_second = x.shape();
    if (x.rank() > 2) without_second.erase(1);
    const bool second = classes.shape() == without_second;
    fail<ShapeError>(op, name, " ", x.shape(), " need targets of shape ", samples, ", got ", classes.shape(),
                     second ? str(": classes are the last axis, movedim(", name, ", 1, -1)") : "");
  }
  Targets targets{.classes = classes, .ignored = ignored, .smoothing = smoothing, .V = x.dim(-1)};
  for (std::int64_t i = 0; i < classes.size(); ++i) {
    const std::int64_t target = classes.data()[i];
    if (targets.counts(i) && (target < 0 || target >= targets.V)) {
      fail<ValueError>(op, "target ", target, " of sample ", i, " is not in [0, ", targets.V, ")",
                       target < 0 ? str("; {.ignore_index = ", target, "} leaves such samples out") : "");
    }
  }
  check_class_weight(op, weight, targets.V);
  return targets;
}

ValidClasses valid_classes(const Targets& targets) {
  ValidClasses valid{targets.classes, Mask(targets.classes.shape(), false)};
  for (std::int64_t i = 0; i < valid.classes.size(); ++i) {
    if (targets.counts(i)) continue;
    valid.classes.mutable_data()[i] = 0;
    valid.ignored.mutable_data()[i] = true;
  }
  return valid;
}

Tensor sample_weights(const ValidClasses& valid, const Tensor& weight) {
  const auto& [classes, ignored] = valid;
  if (!weight.defined()) return to_real(!ignored);
  const Tensor of_class = index_select(weight, 0, classes.reshaped({classes.size()}));
  return masked_fill(reshape(of_class, classes.shape()), ignored, 0);
}

Tensor reduced_by_weight(const char* op, const Tensor& losses, const Tensor& weights, Reduction reduction) {
  if (reduction != Reduction::mean) return reduced(op, losses, reduction);
  refuse_nothing(op, losses, losses.size(), reduction);
  const Tensor total = sum(weights);
  return sum(losses) / where(total == 0, 1, total);
}

Tensor losses_of_classes(const Tensor& log_p, const ValidClasses& valid, const Tensor& weights) {
  if (log_p.dim(-1) == 0) return sum(log_p, -1);  // without a class all samples are ignored: 0
  const Shape column = joined(valid.classes.shape(), {1});
  const Tensor chosen = reshape(gather(log_p, -1, valid.classes.reshaped(column)), valid.classes.shape());
  return -weights * (any(weights == 0) ? where(weights == 0, 0, chosen) : chosen);  // 0 times inf is 0
}

Tensor losses_of_all(const Tensor& log_p, const ValidClasses& valid, const Tensor& weight) {
  const Mask impossible = log_p == -infinity;
  const Tensor finite = any(impossible) ? where(impossible, 0, log_p) : log_p;
  const Tensor losses = -sum(weight.defined() ? weight * finite : finite, -1);
  return any(valid.ignored) ? masked_fill(losses, valid.ignored, 0) : losses;
}

// One loss for each sample, or their sum divided by `count`, as one operation: its gradient needs no array of single
// gradients.
Tensor fused_losses(const Tensor& logits, const Targets& targets, Reduction reduction, Real count = 1) {
  const bool each = reduction == Reduction::none;
  return record_fused(
      "cross_entropy", std::array{logits},
      [targets, reduction](const Tensor& x) {
        return plain::cross_entropy(
            x, targets.classes,
            {.ignore_index = targets.ignored, .label_smoothing = targets.smoothing, .reduction = reduction});
      },
      [&] {
        auto [losses, totals] = cross_entropy_rows(logits.value(), targets);
        if (!each) losses = Array(Shape{}, sum_over(losses, all_axes(losses.rank()), {}).item() / count);
        return std::pair(std::move(losses), [targets, totals = std::move(totals), each, count](
                                                const std::array<Tensor, 1>& in, const Tensor& gy, Wanted) {
          const Array scaled = each ? gy.value() : Array(Shape{}, gy.value().item() / count);
          return std::array<Tensor, 1>{
              cross_entropy_gradient_rows(detail::Donation::take(in[0]), targets, totals, scaled)};
        });
      },
      attribute("targets", targets.classes), attribute("ignore_index", targets.ignored),
      attribute("label_smoothing", unless(0, targets.smoothing)),
      attribute("reduction", reduction == Reduction::sum ? std::optional<std::string_view>("sum") : std::nullopt));
}

Tensor weighted_cross_entropy(const Tensor& logits, const Targets& targets, const CrossEntropyOptions& options) {
  const ValidClasses valid = valid_classes(targets);
  const Tensor weights = sample_weights(valid, options.weight);
  const Real a = targets.smoothing;
  Targets sharp = targets;
  sharp.smoothing = 0;
  const Tensor counts = (1 - a) * weights;
  Tensor losses = counts * where(counts == 0, 0, fused_losses(logits, sharp, Reduction::none));  // 0 times inf is 0
  if (a > 0) {
    losses = losses + losses_of_all(log_softmax(logits), valid, options.weight) * (a / static_cast<Real>(targets.V));
  }
  return reduced_by_weight("cross_entropy", losses, weights, options.reduction);
}

// Throws unless `given` broadcasts to the shape of x.
void check_weight(const char* op, const char* name, const Tensor& given, const Tensor& x) {
  if (given.defined() && broadcast_shapes(op, given.shape(), x.shape()) != x.shape()) {
    fail<ShapeError>(op, name, " ", given.shape(), " does not broadcast to ", x.shape());
  }
}

// The losses of single elements, times their weights.
Tensor weighted(const char* op, const Tensor& losses, const Tensor& weight, Reduction reduction) {
  return reduced(op, weight.defined() ? losses * weight : losses, reduction);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Index& classes, const CrossEntropyOptions& options) {
  const Real smoothing = checked_smoothing(options.label_smoothing);
  const Targets targets =
      checked_targets("cross_entropy", "logits", logits, classes, options.weight, options.ignore_index, smoothing);
  if (options.weight.defined()) return weighted_cross_entropy(logits, targets, options);
  if (options.reduction == Reduction::none) return fused_losses(logits, targets, Reduction::none);
  refuse_nothing("cross_entropy", logits, classes.size(), options.reduction);
  const std::int64_t count = options.reduction == Reduction::mean ? std::max<std::int64_t>(targets.counted(), 1) : 1;
  return fused_losses(logits, targets, options.reduction, static_cast<Real>(count));
}

Tensor cross_entropy(const Tensor& logits, const Tensor& probabilities, const SoftCrossEntropyOptions& options) {
  if (logits.rank() == 0)
    fail<ShapeError>("cross_entropy", "logits need an axis of classes, shape is ", logits.shape());
  if (probabilities.shape() == leading(logits.shape(), 1)) {
    fail<ShapeError>("cross_entropy", "targets ", probabilities.shape(), " for logits ", logits.shape(),
                     ": class numbers are an Index, to_index(targets); probabilities have the logits' shape");
  }
  check_same_shape("cross_entropy", logits, probabilities);
  const Real a = checked_smoothing(options.label_smoothing);
  check_class_weight("cross_entropy", options.weight, logits.dim(-1));
  Tensor q = a == 0 ? probabilities
                    : probabilities * (1 - a) + a / static_cast<Real>(std::max<std::int64_t>(logits.dim(-1), 1));
  if (options.weight.defined()) q = q * options.weight;
  const Tensor log_p = log_softmax(logits);
  const Mask unasked = q == 0 && log_p == -infinity;  // 0 ln 0 = 0
  return reduced("cross_entropy", -sum(q * where(unasked, 0, log_p), -1), options.reduction);
}

Tensor nll_loss(const Tensor& log_p, const Index& classes, const NllLossOptions& options) {
  const Targets targets = checked_targets("nll_loss", "log_p", log_p, classes, options.weight, options.ignore_index);
  const ValidClasses valid = valid_classes(targets);
  const Tensor weights = sample_weights(valid, options.weight);
  return reduced_by_weight("nll_loss", losses_of_classes(log_p, valid, weights), weights, options.reduction);
}

Tensor kl_div(const Tensor& log_prediction, const Tensor& target, const KlDivOptions& options) {
  check_same_shape("kl_div", log_prediction, target);
  const bool by_batch = options.reduction.by_batch();
  if (by_batch) {
    if (target.rank() == 0) fail<ShapeError>("kl_div", "batchmean needs (B, ...), got ", target.shape());
    refuse_nothing("kl_div", target, target.dim(0), Reduction::mean);
  }
  const Mask impossible = target == (options.log_target ? -infinity : 0);
  const auto losses = [&] {
    if (!options.log_target) {
      return where(impossible, 0, target * (log(where(impossible, 1, target)) - where(impossible, 0, log_prediction)));
    }
    return exp(target) * (where(impossible, 0, target) - where(impossible, 0, log_prediction));
  };
  const Tensor loss = reduced("kl_div", losses(), options.reduction.each());
  return by_batch ? loss / static_cast<Real>(target.dim(0)) : loss;
}

XGRAD_FORMULA binary_cross_entropy_formula{"binary_cross_entropy",
                                           "y = -(b ln a + (1 - b) ln(1 - a)), logarithms at least -100",
                                           "dy/da = (a - b)/(a (1 - a)); dy/db = ln(1 - a) - ln a"};
Tensor binary_cross_entropy(const Tensor& p, const Tensor& target, const BinaryCrossEntropyOptions& options) {
  const char* op = "binary_cross_entropy";
  check_same_shape(op, p, target);
  check_weight(op, "weight", options.weight, p);
  for (const Real value : p.value()) {
    if (!(value >= 0 && value <= 1)) {
      fail<ValueError>(op, "p = ", value, " is not in [0, 1] (logits: binary_cross_entropy_with_logits)");
    }
  }
  constexpr Real least = -100, smallest = 1e-12;
  const Tensor losses = elementwise(
      "binary_cross_entropy", p, target,
      [least](auto a, auto t) { return -(t * maximum(log(a), least) + (1 - t) * maximum(log1p(-a), least)); },
      [smallest](auto a, auto t, auto) { return (a - t) / maximum(a * (1 - a), smallest); },
      [least](auto a, auto, auto) { return maximum(log1p(-a), least) - maximum(log(a), least); });
  return weighted(op, losses, options.weight, options.reduction);
}

XGRAD_FORMULA weighted_bce_formula{"weighted_binary_cross_entropy_with_logits",
                                   "y = (1 - b) a + (1 + (c - 1) b) ln(1 + e^-a)",
                                   "dy/da = 1 - b - (1 + (c - 1) b) sigmoid(-a); dy/db = (c - 1) ln(1 + e^-a) - a; "
                                   "dy/dc = b ln(1 + e^-a)"};
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsOptions& options) {
  const char* op = "binary_cross_entropy_with_logits";
  check_same_shape(op, logits, target);
  check_weight(op, "weight", options.weight, logits);
  check_weight(op, "pos_weight", options.pos_weight, logits);
  if (!options.pos_weight.defined()) {
    // |x| (part of the answer that x contradicts) + ln(1 + e^-|x|)
    const Tensor losses = elementwise(
        "binary_cross_entropy_with_logits", logits, target,
        [](auto x, auto t) {
          return detail::guarded(
              [](const auto& u, const auto& target) {
                const auto against = where(u > 0, 1 - target, target);
                return where(against == 0, 0, abs(u) * against) + log1p(exp(-abs(u)));  // also where |u| is inf
              },
              [](const auto& u, const auto& target) { return (1 - target) * u + log(1 + exp(-u)); }, x, t);
        },
        [](auto x, auto t, auto) { return sigmoid(x) - t; }, [](auto x, auto, auto) { return -x; });
    return weighted(op, losses, options.weight, options.reduction);
  }
  // The same with weight c for yes.
  // Without abs and maximum, whose slopes at 0 are not those of one side.
  const auto softplus_of_minus = [](auto x) { return where(x > 0, 0, -x) + log1p(exp(where(x > 0, -x, x))); };
  const Tensor losses = elementwise(
      "weighted_binary_cross_entropy_with_logits", logits, target, options.pos_weight,
      [](auto x, auto t, auto c) {
        const auto against = where(x > 0, 1 - t, c * t);
        return where(against == 0, 0, abs(x) * against) + (1 + (c - 1) * t) * log1p(exp(-abs(x)));
      },
      [](auto x, auto t, auto c, auto) { return 1 - t - (1 + (c - 1) * t) * sigmoid(-x); },
      [softplus_of_minus](auto x, auto, auto c, auto) { return (c - 1) * softplus_of_minus(x) - x; },
      [softplus_of_minus](auto x, auto t, auto, auto) { return t * softplus_of_minus(x); });
  return weighted(op, losses, options.weight, options.reduction);
}

XGRAD_FORMULA gaussian_nll_formula{"gaussian_nll", "y = (ln v + a^2/v)/2 with v = max(b, eps)",
                                   "dy/da = a/v; dy/db = (1/v - a^2/v^2)/2"};
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& variance,
                         const GaussianNllLossOptions& options) {
  const char* op = "gaussian_nll_loss";
  check_same_shape(op, x, target);
  if (!(options.eps > 0)) fail<ValueError>(op, "eps ", options.eps, " is not positive");
  const bool per_sample = x.rank() > 0 && variance.shape() == leading(x.shape(), 1);
  const Tensor spread = per_sample ? unsqueeze(variance, -1) : variance;
  check_weight(op, "variance", spread, x);
  for (const Real value : variance.value()) {
    if (!(value >= 0)) fail<ValueError>(op, "variance ", value, " is not a positive number");
  }
  const Real eps = static_cast<Real>(options.eps);
  Tensor losses = elementwise(
      "gaussian_nll", x - target, spread,
      [eps](auto d, auto b) {
        const auto v = maximum(b, eps);
        return 0.5 * (log(v) + d * d / v);
      },
      [eps](auto d, auto b, auto) { return d / maximum(b, eps); },
      [eps](auto d, auto b, auto) {
        const auto v = maximum(b, eps);
        return 0.5 * (1 - d * d / v) / v;
      },
      attribute("eps", unless(GaussianNllLossOptions().eps, options.eps)));
  if (options.full) losses = losses + static_cast<Real>(0.5 * std::log(2 * std::numbers::pi));
  return reduced(op, losses, options.reduction);
}

}  // namespace xgrad
