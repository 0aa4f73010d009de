// Losses of distances and margins: between numbers, and between vectors that should be near each other or far apart.
// With PyTorch's names and defaults.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduction.h"

namespace xgrad {

/// Squared error (a - b)^2 of equal shapes. Throws ShapeError.
Tensor mse_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options = {});
/// Absolute error |a - b| of equal shapes. Throws ShapeError.
Tensor l1_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options = {});

struct SmoothL1LossOptions {
  double beta = 1;  ///< where the parabola becomes a line; 0: l1_loss
  Reduction reduction = Reduction::mean;
};
/// d^2/(2 beta) where |d| < beta, else |d| - beta/2, d = prediction - target (Girshick 2015). Equal shapes. Throws
/// ShapeError, ValueError for a negative beta.
Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, const SmoothL1LossOptions& options = {});

struct HuberLossOptions {
  double delta = 1;  ///< where the parabola becomes a line
  Reduction reduction = Reduction::mean;
};
/// d^2/2 where |d| < delta, else delta (|d| - delta/2), d = prediction - target (Huber 1964). Equal shapes. Throws
/// ShapeError, ValueError for a delta that is not positive.
Tensor huber_loss(const Tensor& prediction, const Tensor& target, const HuberLossOptions& options = {});

struct TripletMarginLossOptions {
  double margin = 1;
  double p = 2;       ///< of the norm
  double eps = 1e-6;  ///< as in pairwise_distance
  bool swap = false;  ///< the negative is compared with the anchor or the positive, whichever is nearer
  Reduction reduction = Reduction::mean;
};
/// max(0, margin + |anchor - positive| - |anchor - negative|) for vectors along the last axis (Balntas et al. 2016).
/// All broadcast. Throws ShapeError, ValueError for a margin that is not positive.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options = {});

}  // namespace xgrad
