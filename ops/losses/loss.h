// Losses of predicted probabilities: cross-entropies, likelihoods, divergence. (Losses of distances are in
// distance_loss.h.)
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"
#include "reduction.h"

namespace xgrad {

struct CrossEntropyOptions {
  Tensor weight = {};                          ///< (V): the weight of each class; undefined: 1
  std::optional<std::int64_t> ignore_index{};  ///< samples with this target are ignored: their loss and gradient are 0
  double label_smoothing = 0;                  ///< the part of the target that is spread evenly over all classes
  Reduction reduction = Reduction::mean;
};

/// Cross-entropy of logits (..., V) and classes (...). Logits in PyTorch's order (B, V, T) need movedim(logits, 1, -1)
/// first. If V = T, a missing movedim is no error, but the loss is wrong. For one sample with target t
///
///     loss = -(1 - a) w_t ln p_t - a/V sum_c w_c ln p_c,      p = softmax(logits), a = label_smoothing, w = weight
///
/// The smoothing leaves out classes of probability 0 (logit -inf). Infinite logits are treated as in log_softmax. A
/// number added to all logits of a sample changes nothing, however large it is. The mean is over the samples that are
/// not ignored, with weights w_t. If all samples are ignored, the loss and its gradient are 0. The second derivative is
/// computed from the rounded p: it is 0 where a p_c rounds to 1 (logits 37 apart, in float 17). Throws ShapeError when
/// the shapes do not fit; ValueError for a smoothing outside [0, 1], or a target outside [0, V) that is not ignored
/// (the error names the sample).
Tensor cross_entropy(const Tensor& logits, const Index& targets, const CrossEntropyOptions& options = {});

namespace plain {
/// Unfused cross-entropy by log_softmax, which runs under Plain.
Tensor cross_entropy(const Tensor& logits, const Index& targets, const CrossEntropyOptions& options = {});
}  // namespace plain

struct SoftCrossEntropyOptions {
  Tensor weight = {};  ///< (V): the weight of each class; undefined: 1
  double label_smoothing = 0;
  Reduction reduction = Reduction::mean;
};

/// Cross-entropy of logits (..., V) and probabilities (..., V): loss = -sum_c w_c q_c ln p_c with
/// q = (1 - a) target + a/V. The mean is over all samples. Gradients flow to both arguments. Throws ShapeError if the
/// shapes differ, ValueError for a smoothing outside [0, 1].
Tensor cross_entropy(const Tensor& logits, const Tensor& probabilities, const SoftCrossEntropyOptions& options = {});

struct NllLossOptions {
  Tensor weight = {};                          ///< (V): the weight of each class; undefined: 1
  std::optional<std::int64_t> ignore_index{};  ///< samples with this target are ignored
  Reduction reduction = Reduction::mean;
};

/// Negative log-likelihood of log-probabilities (..., V) and classes (...): loss = -w_t log_p_t. The mean is as in
/// cross_entropy. (cross_entropy is log_softmax followed by nll_loss.) Throws ShapeError when the shapes do not fit,
/// ValueError for a target outside [0, V) that is not ignored.
Tensor nll_loss(const Tensor& log_p, const Index& targets, const NllLossOptions& options = {});

/// A reduction of kl_div: the sum divided by the size of the first axis, that is, the mean divergence of distributions
/// (B, V).
struct BatchMean {};
inline constexpr BatchMean batchmean;

/// The reduction of kl_div over the losses of elements: a Reduction, or batchmean.
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
  KlDivReduction reduction = Reduction::mean;  ///< mean: over all elements, as in PyTorch; batchmean: the divergence
  bool log_target = false;                     ///< whether the target contains logarithms
};

/// Kullback-Leibler divergence, pointwise: target (ln target - log_prediction), 0 where the target is 0. Throws
/// ShapeError if the shapes differ or for batchmean of a scalar, ValueError for batchmean of no samples.
Tensor kl_div(const Tensor& log_prediction, const Tensor& target, const KlDivOptions& options = {});

struct BinaryCrossEntropyOptions {
  Tensor weight = {};  ///< the weight of each element, which broadcasts to the shape of p; undefined: 1
  Reduction reduction = Reduction::mean;
};

/// Binary cross-entropy of the probability p of the class 1: -(t ln p + (1 - t) ln(1 - p)). The target t is in [0, 1];
/// logarithms are clamped to at least -100.      dy/dp = (p - t)/(p (1 - p)), p (1 - p) at least 1e-12
/// Throws ShapeError if the shapes differ, ValueError for a p outside [0, 1].
Tensor binary_cross_entropy(const Tensor& p, const Tensor& target, const BinaryCrossEntropyOptions& options = {});

struct BinaryCrossEntropyWithLogitsOptions {
  Tensor weight = {};      ///< the weight of each element, as above
  Tensor pos_weight = {};  ///< the weight of the class 1, which broadcasts to the logits; undefined: 1
  Reduction reduction = Reduction::mean;
};

/// Binary cross-entropy of the logit x of the class 1: max(x, 0) - x t + ln(1 + e^-|x|), where the target t is in [0,
/// 1]. At infinite x the loss is the limit. With pos_weight c it is (1 - t) x + (1 + (c - 1) t) ln(1 + e^-x). The
/// second derivative is the derivative of sigmoid(x): 0 above 37 (float: 17). Throws ShapeError if the shapes differ.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsOptions& options = {});

struct GaussianNllLossOptions {
  bool full = false;  ///< adds the constant ln(2 pi)/2
  double eps = 1e-6;  ///< the least variance
  Reduction reduction = Reduction::mean;
};

/// Negative log-likelihood of normal distributions: (ln v + (x - t)^2/v)/2, v = max(variance, eps). The variance has
/// the shape of x, or lacks its last axis, or broadcasts to it. Throws ShapeError for other shapes, ValueError for a
/// negative variance or an eps that is not positive.
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& variance,
                         const GaussianNllLossOptions& options = {});

}  // namespace xgrad
