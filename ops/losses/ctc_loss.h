// Connectionist temporal classification: a loss for sequences without alignment, such as speech and text.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduction.h"

namespace xgrad {

struct CtcLossOptions {
  std::int64_t blank = 0;  ///< the class for no letter
  Reduction reduction = Reduction::mean;
  bool zero_infinity = false;  ///< the loss of an unreachable target is 0 instead of inf
};

/// CTC loss (Graves et al. 2006) of log-probabilities (T, N, C), T steps of N samples, and targets (N, S), of which
/// target_lengths (N) count, or all targets one after the other as a list:
///
///     loss_n = -ln sum over alignments a of exp sum_t log_probs[t, n, a_t]
///
/// An alignment has a class for each of the input_lengths (N) steps. Repeated classes count once, blanks do not count,
/// and the rest is the target. For one sample: (T, C), targets (S), lengths without axes. The mean is over losses divided by their
/// target's length, as in PyTorch. A target that is too long for its steps has the loss inf, and gradient 0 (PyTorch:
/// NaN). Steps beyond a sample's length have gradient 0. Throws ShapeError when the shapes do not fit; ValueError, with
/// the sample, for lengths outside [0, S] and [0, T], targets outside [0, C) or equal to the blank, and a blank outside
/// [0, C).
Tensor ctc_loss(const Tensor& log_probs, const Index& targets, const Index& input_lengths, const Index& target_lengths,
                const CtcLossOptions& options = {});

namespace plain {
/// CTC loss step by step, in single operations, as run under Plain.
Tensor ctc_loss(const Tensor& log_probs, const Index& targets, const Index& input_lengths, const Index& target_lengths,
                const CtcLossOptions& options = {});
}  // namespace plain

}  // namespace xgrad
