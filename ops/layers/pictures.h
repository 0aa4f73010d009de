// Rearranging and sampling pictures (B, C, H, W): pixel and channel shuffle, affine and other warps.
#pragma once

#include "../../core/graph/tensor.h"
#include "interpolate.h"

namespace xgrad {

/// Rearranges channels as pixels: each of C channels of a picture `factor` times as large comes from factor^2 channels.
///     (..., C factor^2, H, W) -> (..., C, H factor, W factor)
/// Throws ShapeError below three axes or for other channels, ValueError for a factor below 1. (Shi et al. 2016)
Tensor pixel_shuffle(const Tensor& x, std::int64_t factor);
/// Its inverse: pixels as channels.      (..., C, H factor, W factor) -> (..., C factor^2, H, W)
/// Throws likewise.
Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor);
/// Reorders channels (axis 1): the first of each group, the second of each, and so on (Zhang et al. 2018).
/// Throws ShapeError below three axes or where the groups do not divide the channels, ValueError for groups below 1.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

struct LocalResponseNormOptions {
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
};
/// y = x / (k + alpha a)^beta, where a is the mean of x^2 over `size` neighbouring channels (axis 1), those outside
/// being 0 (Krizhevsky et al. 2012). Throws ShapeError below three axes, ValueError for a size below 1.
Tensor local_response_norm(const Tensor& x, std::int64_t size, const LocalResponseNormOptions& options = {});

/// The sampling grid of an affine map: for each point of a picture of that size, in coordinates from -1 to 1, its source
/// point theta (x, y, 1)'.      theta (B, 2, 3), size (B, C, H, W) -> (B, H, W, 2), x before y
/// -1 and 1 are the centres of the corner pixels (align_corners yes) or their outer corners (no). Throws
/// ShapeError, ValueError for an H or W below 1.
Tensor affine_grid(const Tensor& theta, const Shape& size, AlignCorners align_corners = AlignCorners::no);

/// The pixels that grid_sample reads outside the picture.
enum class GridPadding {
  zeros,
  border,     ///< the pixel at the border
  reflection  ///< the picture, reflected at its borders as often as needed
};
struct GridSampleOptions {
  Interpolation mode = Interpolation::bilinear;
  GridPadding padding = GridPadding::zeros;
  AlignCorners align_corners = AlignCorners::no;  ///< the meaning of -1 and 1, as in affine_grid
};
/// A picture read at the points of a grid: y_bcij = x_bc at (grid_bij0, grid_bij1), in coordinates from -1 to 1, the
/// first along W (Jaderberg et al. 2015). Gradients flow to x and, in bilinear mode, to the grid. A point that is NaN
/// counts as -1.      x (B, C, H, W), grid (B, H', W', 2) -> (B, C, H', W')
/// Throws ShapeError, also for an empty picture.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});

}  // namespace xgrad
