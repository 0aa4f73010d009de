// Losses of predicted probabilities: cross-entropies, likelihoods, divergence. (Losses of distances are in
// distance_loss.h.)
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"
#include "reduction.h"

namespace xgrad {

struct CrossEntropyOptions {
  Tensor weight = {};                          ///< (V): of each class; undefined: 1
  std::optional<std::int64_t> ignore_index{};  ///< samples with this target are ignored: their loss and gradient are 0
  double label_smoothing = 0;                  ///< part of the target that is spread evenly over all classes
  Reduction reduction = Reduction::mean;
};

/// Cross-entropy of logits (..., V) and classes (...). PyTorch's logits (B, V, T) need movedim(logits, 1, -1), whose
/// absence no error reports where V = T. For one sample with target t
///
///     loss = -(1 - a) w_t ln p_t - a/V sum_c w_c ln p_c,      p = softmax(logits), a = label_smoothing, w = weight
///
/// A class of probability 0 (logit -inf) that only the smoothing weights is left out of the sum. Infinite logits count
/// as in log_softmax. A number added to all logits of a sample changes nothing, however large. The mean is over the
/// samples that are not ignored, each counted w_t times; if all samples are ignored, the loss is 0, and so is its
/// gradient. The second derivative is that of the rounded p: 0 where a p_c is 1 (logits 37 apart, in float 17). Throws
/// ShapeError when the shapes do not fit, ValueError for a target outside [0, V) that is not ignored (the sample is
/// named), or a smoothing outside [0, 1].
Tensor cross_entropy(const Tensor& logits, const Index& targets, const CrossEntropyOptions& options = {});

namespace plain {
/// Cross-entropy in single operations, by log_softmax, as run under Plain.
Tensor cross_entropy(const Tensor& logits, const Index& targets, const CrossEntropyOptions& options = {});
}  // namespace plain

struct SoftCrossEntropyOptions {
  Tensor weight = {};  ///< (V): of each class; undefined: 1
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};

/// Cross-entropy of logits (..., V) and probabilities (..., V): loss = -sum_c w_c q_c ln p_c with
/// q = (1 - a) target + a/V. The mean is over all samples. Gradients flow to both. Throws ShapeError, ValueError for a
/// smoothing outside [0, 1].
Tensor cross_entropy(const Tensor& logits, const Tensor& probabilities, const SoftCrossEntropyOptions& options = {});

struct NllLossOptions {
  Tensor weight = {};                          ///< (V): of each class; undefined: 1
  std::optional<std::int64_t> ignore_index{};  ///< samples with this target are ignored
  Reduction reduction = Reduction::mean;
};

/// Negative log-likelihood of log-probabilities (..., V) and classes (...): loss = -w_t log_p_t, the mean as in
/// cross_entropy, which is log_softmax followed by this. Throws ShapeError, and ValueError for a target outside [0, V)
/// that is not ignored.
Tensor nll_loss(const Tensor& log_p, const Index& targets, const NllLossOptions& options = {});

/// For kl_div: the sum divided by the size of the first axis, the mean divergence of distributions (B, V).
struct BatchMean {};
inline constexpr BatchMean batchmean;

/// The reduction of the losses of elements in kl_div: a Reduction, or batchmean.
class KlDivReduction {
 public:
  constexpr KlDivReduction(Reduction each) : each_(each) {}
  constexpr KlDivReduction(BatchMean) : each_(Reduction::sum), by_batch_(true) {}
  Reduction each() const { return each_; }
  bool by_batch() const { return by_batch_; }

 private:
  Reduction each_;
  bool by_batch_ = false;
};

struct KlDivOptions {
  KlDivReduction reduction = Reduction::mean;  ///< over all elements, as in PyTorch; batchmean is the divergence
  bool log_target = false;                     ///< the target is given as logarithms
};

/// Kullback-Leibler divergence, pointwise: target (ln target - log_prediction), 0 where the target is 0. Equal shapes.
/// Throws ShapeError, also for batchmean of a scalar, and ValueError for that of no samples.
Tensor kl_div(const Tensor& log_prediction, const Tensor& target, const KlDivOptions& options = {});

struct BinaryCrossEntropyOptions {
  Tensor weight = {};  ///< of each element, of a shape that broadcasts to theirs; undefined: 1
  Reduction reduction = Reduction::mean;
};

/// Binary cross-entropy from the probability p of yes: -(t ln p + (1 - t) ln(1 - p)), target t in [0, 1], logarithms
/// clamped to at least -100.      dy/dp = (p - t)/(p (1 - p)), p (1 - p) at least 1e-12
/// Equal shapes. Throws ShapeError, ValueError for a p outside [0, 1].
Tensor binary_cross_entropy(const Tensor& p, const Tensor& target, const BinaryCrossEntropyOptions& options = {});

struct BinaryCrossEntropyWithLogitsOptions {
  Tensor weight = {};      ///< as above
  Tensor pos_weight = {};  ///< of the answer yes, of a shape that broadcasts to theirs; undefined: 1
  Reduction reduction = Reduction::mean;
};

/// Binary cross-entropy from the logit x of yes: max(x, 0) - x t + ln(1 + e^-|x|), target t in [0, 1]; at infinite x
/// the limit. With pos_weight c: (1 - t) x + (1 + (c - 1) t) ln(1 + e^-x). The second derivative is the slope of
/// sigmoid(x), 0 above 37 (float: 17). Equal shapes. Throws ShapeError.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsOptions& options = {});

struct GaussianNllLossOptions {
  bool full = false;  ///< with the constant ln(2 pi)/2
  double eps = 1e-6;  ///< the least variance
  Reduction reduction = Reduction::mean;
};

/// Negative log-likelihood of normal distributions: (ln v + (x - t)^2/v)/2, v = max(variance, eps). The variance has
/// the shape of x, or lacks its last axis, or broadcasts to it. Throws ShapeError, ValueError for a negative variance
/// or an eps that is not positive.
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& variance,
                         const GaussianNllLossOptions& options = {});

}  // namespace xgrad
