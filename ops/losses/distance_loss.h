// Losses of distances and margins: between numbers, and between vectors that should be near each other or far apart.
// Names and defaults are PyTorch's.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduction.h"

namespace xgrad {

/// Squared error (prediction - target)^2. Throws ShapeError if the shapes differ.
Tensor mse_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options = {});
/// Absolute error |prediction - target|. Throws ShapeError if the shapes differ.
Tensor l1_loss(const Tensor& prediction, const Tensor& target, const LossOptions& options = {});

struct SmoothL1LossOptions {
  double beta = 1;  ///< the |d| where the parabola becomes a line; 0: l1_loss
  Reduction reduction = Reduction::mean;
};
/// d^2/(2 beta) where |d| < beta, else |d| - beta/2, d = prediction - target (Girshick 2015). Throws ShapeError if the
/// shapes differ, ValueError for a negative beta.
Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, const SmoothL1LossOptions& options = {});

struct HuberLossOptions {
  double delta = 1;  ///< the |d| where the parabola becomes a line
  Reduction reduction = Reduction::mean;
};
/// d^2/2 where |d| < delta, else delta (|d| - delta/2), d = prediction - target (Huber 1964). Throws ShapeError if the
/// shapes differ, ValueError for a delta that is not positive.
Tensor huber_loss(const Tensor& prediction, const Tensor& target, const HuberLossOptions& options = {});

struct TripletMarginLossOptions {
  double margin = 1;
  double p = 2;       ///< the order of the norm
  double eps = 1e-6;  ///< added to each difference, as in pairwise_distance
  bool swap = false;  ///< takes the distance of the negative to the anchor or the positive, whichever is less
  Reduction reduction = Reduction::mean;
};
/// max(0, margin + |anchor - positive| - |anchor - negative|) for vectors along the last axis (Balntas et al. 2016).
/// The three tensors broadcast. Throws ShapeError if they do not, ValueError for a margin that is not positive.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossOptions& options = {});

}  // namespace xgrad
