// Batch norm, channel by channel, and its gradients.
#pragma once

#include "layer_norm.h"

namespace xgrad {

/// Numbers (N, C, L), and the scale and shift of each channel, (C) each, or nullptr.
struct Channels {
  const Real* x;
  std::int64_t N, C, L;
  const Real* gamma;
  const Real* beta;
};

/// Writes the normalised channels to y and the statistics of each to `statistics` (C).
void batch_norm_channels(const Channels& in, Real eps, Real* y, RowStatistics* statistics);

/// The gradients that LayerNormWanted names: of x (N, C, L), of gamma and beta (C). `statistics` are those saved for
/// each channel.
LayerNormGradients batch_norm_gradient_channels(const Channels& in, const Real* statistics, const Real* gy,
                                                const LayerNormWanted& wanted);

}  // namespace xgrad
