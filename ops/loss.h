// Losses. With Reduction::mean all throw ValueError for no samples at all: there is no mean of nothing (ops/reduce.h).
#pragma once

#include <optional>

#include "../core/tensor.h"

namespace xgrad {

/// What becomes of the losses of single samples.
enum class Reduction {
  mean,  ///< their mean (over the samples that count)
  sum,   ///< their sum
  none,  ///< they are returned one by one
};

struct CrossEntropyOptions {
  std::optional<std::int64_t> ignore_index{};  ///< samples with this target do not count: their loss and gradient are 0
  Real label_smoothing = 0;                    ///< share of the target that is spread evenly over all classes
  Reduction reduction = Reduction::mean;
};

/// Cross-entropy of logits (..., V) and classes (...): for one sample with target t
///
///     loss = -(1 - a) ln p_t - a/V sum_c ln p_c,      p = softmax(logits), a = label_smoothing
///
/// A class that the smoothing alone asks for and that has probability 0 (logit -inf) is left out of the sum. Infinite
/// logits count as in log_softmax. A number added to all logits of a sample changes nothing, however large. The mean
/// is over the samples that are not ignored; if there are samples and all are, the loss is 0, and so is its gradient.
/// Throws ShapeError when the shapes do not fit, ValueError for a target outside [0, V) that is not ignored (the sample
/// is named), or a smoothing outside [0, 1].
Tensor cross_entropy(const Tensor& logits, const Index& targets, const CrossEntropyOptions& options = {});

struct SoftCrossEntropyOptions {
  Real label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};

/// Cross-entropy of logits (..., V) and probabilities (..., V): loss = -sum_c q_c ln p_c with q = (1 - a) target + a/V.
/// Gradients flow to both. Throws ShapeError, ValueError for a smoothing outside [0, 1].
Tensor cross_entropy(const Tensor& logits, const Tensor& probabilities, const SoftCrossEntropyOptions& options = {});

struct LossOptions {
  Reduction reduction = Reduction::mean;
};

/// Squared error (a - b)^2 of equal shapes. Throws ShapeError.
Tensor mse_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options = {});

struct KlDivOptions {
  Reduction reduction =
      Reduction::mean;      ///< over all elements, as in PyTorch; divide `sum` by the batch for the divergence
  bool log_target = false;  ///< the target is given as logarithms
};

/// Kullback-Leibler divergence, pointwise: target (ln target - log_prediction), 0 where the target is 0. Equal shapes.
/// Throws ShapeError.
Tensor kl_div(const Tensor& log_prediction, const Tensor& target, const KlDivOptions& options = {});

/// Cross-entropy of a yes-or-no question from its logit x: max(x, 0) - x t + ln(1 + e^-|x|), target t in [0, 1]; at
/// infinite x the limit. Equal shapes. Throws ShapeError.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const LossOptions& options = {});

}  // namespace xgrad
