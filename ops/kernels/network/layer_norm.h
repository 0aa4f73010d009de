// Layer norm and RMS norm, row by row, and their gradients.
#pragma once

#include "../../../core/array/array.h"

namespace xgrad {

/// The statistics that normalise a row, scale = 1 / sqrt(variance + eps). The mean has two parts, mean + mean_low,
/// because x - mean loses its digits where the rounded mean is large compared with the standard deviation.
struct RowStatistics {
  Real mean, mean_low, scale, variance;
};
/// The number of leading statistics, which are saved for the gradient.
inline constexpr std::int64_t statistics_size = 3;

/// The centre that is subtracted from a row and from which its spread is measured: its mean, or 0, as in RMS norm.
enum class Centre { mean, zero };

/// The statistics of a row of n elements.
RowStatistics row_statistics(const Real* x, std::int64_t n, Real eps);

/// Rows of n numbers, and their scale and shift, (n) each, or nullptr.
struct LayerNormRows {
  const Real* x;
  std::int64_t rows, n;
  const Real* gamma;
  const Real* beta;
  Centre centre = Centre::mean;
};

/// Writes the normalised rows to y and the statistics of each that are saved to `statistics`.
void layer_norm_rows(const LayerNormRows& in, Real eps, Real* y, Real* statistics);

/// The gradients that are wanted, and their values: of x (rows, n), of gamma and beta (n); empty where not wanted.
struct LayerNormWanted {
  bool x, gamma, beta;
};
struct LayerNormGradients {
  Array x, gamma, beta;
};
/// All gradients at once. Sums over rows go by fixed blocks, so they are the same for any number of threads.
LayerNormGradients layer_norm_gradient_rows(const LayerNormRows& in, const Real* statistics, const Real* gy,
                                            const LayerNormWanted& wanted);

}  // namespace xgrad
