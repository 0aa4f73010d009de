// Losses. Cross-entropy has a kernel of its own: softmax, logarithm and choice in one pass over each row.
#include <xgrad/ops/loss.h>

#include <cmath>
#include <limits>

#include <xgrad/core/grad.h>
#include <xgrad/core/record.h>
#include <xgrad/ops/arithmetic.h>
#include <xgrad/ops/elementwise.h>
#include <xgrad/ops/loops.h>
#include <xgrad/ops/reduce.h>
#include <xgrad/ops/shape.h>

namespace xgrad::inline XGRAD_ABI {
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

std::int64_t rows_at_a_time(std::int64_t V) {
  return std::max<std::int64_t>(1, elementwise_block / std::max<std::int64_t>(V, 1));
}

struct RowSums {
  Real log_total;  // ln sum e^x
  Real sum;        // of the x that are not -inf
  std::int64_t open;
};

// One pass for the maximum, one for the rest. In place of the tail of a register stands -inf, which adds nothing.
RowSums sums_of(const Real* x, std::int64_t V, bool with_sum) {
  constexpr auto width = static_cast<std::int64_t>(Pack::width);
  const std::int64_t whole = V / width * width;
  Real tail[Pack::width];
  std::fill(std::copy(x + whole, x + V, tail), tail + width, -infinity);
  Pack most = Pack::load(tail);
  for (std::int64_t i = 0; i < whole; i += width) most = maximum(most, Pack::load(x + i));
  Real lanes[Pack::width];
  most.store(lanes);
  Real top = -infinity;
  for (const Real lane : lanes) top = top >= lane ? top : lane;  // NaN wins: it fails the comparison
  const Real shift = std::isinf(top) && top < 0 ? 0 : top;
  Pack total = exp(Pack::load(tail) - shift);
  for (std::int64_t i = 0; i < whole; i += width) total = total + exp(Pack::load(x + i) - shift);
  RowSums result{.log_total = shift + std::log(sum_of(total)), .sum = 0, .open = V};
  if (with_sum) {
    result.open = 0;
    for (std::int64_t i = 0; i < V; ++i) {
      if (x[i] == -infinity) continue;
      result.sum += x[i];
      ++result.open;
    }
  }
  return result;
}

Real row_loss(const Real* x, std::int64_t target, const RowSums& sums, Real smoothing, std::int64_t V) {
  Real loss = (1 - smoothing) * (sums.log_total - x[target]);
  if (smoothing > 0) {
    loss += smoothing / static_cast<Real>(V) * (static_cast<Real>(sums.open) * sums.log_total - sums.sum);
  }
  return loss;
}

Array losses_of(const Array& logits, const Targets& targets) {
  Array losses(targets.classes.shape());
  Real* out = losses.mutable_data();
  const std::int64_t V = targets.V;
  parallel_for(losses.size(), rows_at_a_time(V), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Real* x = logits.data() + i * V;
      out[i] = targets.counts(i)
                   ? row_loss(x, targets.classes.data()[i], sums_of(x, V, targets.smoothing > 0), targets.smoothing, V)
                   : 0;
    }
  });
  return losses;
}

// gy_i (mass p - q) for each row: p = softmax, q the smoothed target, mass what q adds up to.
Array logits_gradient(const Array& logits, const Targets& targets, const Array& gy) {
  Array result(logits.shape());
  Real* out = result.mutable_data();
  const std::int64_t V = targets.V;
  const Real smoothing = targets.smoothing, each = smoothing / static_cast<Real>(V);
  constexpr auto width = static_cast<std::int64_t>(Pack::width);
  const bool shared = gy.size() == 1;
  parallel_for(targets.classes.size(), rows_at_a_time(V), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Real* x = logits.data() + i * V;
      Real* g = out + i * V;
      if (!targets.counts(i)) {
        std::fill_n(g, V, Real(0));
        continue;
      }
      const RowSums sums = sums_of(x, V, smoothing > 0);
      const Real above = gy.data()[shared ? 0 : i];
      const Real mass = 1 - smoothing + each * static_cast<Real>(sums.open);
      const auto slope = [&](const Pack& v) {
        const Pack p = exp(v - sums.log_total);
        return above * (mass * p - where(v == -infinity, 0, each));
      };
      std::int64_t j = 0;
      for (; j + width <= V; j += width) slope(Pack::load(x + j)).store(g + j);
      Real tail[Pack::width];
      std::fill(std::copy(x + j, x + V, tail), tail + width, Real(0));
      slope(Pack::load(tail)).store(tail);
      std::copy_n(tail, V - j, g + j);
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
  const Tensor log_p = logits - logsumexp(logits, {.axis = -1, .keepdim = true});
  const Tensor finite = where(logits == -infinity, 0, log_p);
  const Tensor hot(std::move(chosen)), evenly(std::move(every));
  return -sum(where(hot > 0, hot * log_p, 0) + evenly * finite, {.axis = -1});
}

Tensor sample_losses(const Tensor& logits, const Targets& targets) {
  return record("cross_entropy", losses_of(logits.value(), targets),
                jointly(
                    [logits, targets](const Tensor& gy, Wanted wanted) {
                      if (recording()) {
                        return composed_gradients(std::array{logits}, gy, wanted,
                                                  [&](const Tensor& x) { return composed_losses(x, targets); });
                      }
                      return std::array<Tensor, 1>{logits_gradient(logits.value(), targets, gy.value())};
                    },
                    logits));
}

// The sum of the losses times `share`, as one operation: its gradient needs no array of single gradients.
Tensor total_loss(const Tensor& logits, const Targets& targets, Real share) {
  const Real total = sum(Tensor(losses_of(logits.value(), targets))).item() * share;  // of a constant: not recorded
  return record("cross_entropy", Array(Shape{}, total),
                jointly(
                    [logits, targets, share](const Tensor& gy, Wanted wanted) {
                      if (recording()) {
                        return composed_gradients(std::array{logits}, gy, wanted, [&](const Tensor& x) {
                          return sum(composed_losses(x, targets)) * share;
                        });
                      }
                      const Array scaled(Shape{}, gy.value().item() * share);
                      return std::array<Tensor, 1>{logits_gradient(logits.value(), targets, scaled)};
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
  const Tensor log_p = logits - logsumexp(logits, {.axis = -1, .keepdim = true});
  return reduced(-sum(where(q == 0, 0, q * where(q == 0, 0, log_p)), {.axis = -1}), options.reduction);
}

Tensor mse_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options) {
  check_same_shape("mse_loss", prediction, target);
  return reduced(square(prediction - target), options.reduction);
}

Tensor kl_div(const Tensor& log_prediction, const Tensor& target, const KlDivOptions& options) {
  check_same_shape("kl_div", log_prediction, target);
  if (options.log_target) return reduced(exp(target) * (target - log_prediction), options.reduction);
  const Mask none = target == 0;
  return reduced(where(none, 0, target * (log(where(none, 1, target)) - where(none, 0, log_prediction))),
                 options.reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const LossOptions& options) {
  check_same_shape("binary_cross_entropy_with_logits", logits, target);
  return reduced(softplus(logits) - logits * target, options.reduction);
}

}  // namespace xgrad::inline XGRAD_ABI
