// Rearranging images (B, C, H, W): pixel and channel shuffle.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Rearranges channels as pixels: each channel of an image `factor` times as large comes from factor^2 channels.
///     (..., C factor^2, H, W) -> (..., C, H factor, W factor)
/// Throws ShapeError below three axes or for other channels, ValueError for a factor below 1. (Shi et al. 2016)
Tensor pixel_shuffle(const Tensor& x, std::int64_t factor);
/// The inverse of pixel_shuffle: pixels as channels.      (..., C, H factor, W factor) -> (..., C factor^2, H, W)
Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor);
/// Reorders channels (axis 1): the first of each group, the second of each, and so on (Zhang et al. 2018).
/// Throws ShapeError below three axes or where the groups do not divide the channels, ValueError for groups below 1.
Tensor channel_shuffle(const Tensor& x, std::int64_t groups);

}  // namespace xgrad
