// Dropout.
#pragma once

#include "../../core/array/random.h"
#include "../../core/graph/tensor.h"

namespace xgrad {

/// Zeroes every element with probability p and divides all others by 1 - p, which preserves the mean. The choice
/// depends only on the key and the element's position; p = 1 gives zeros.      dy/dx = 1/(1 - p) or 0
/// Throws ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, const RandomKey& key);
/// Dropout with the generator's next key. (Even p = 0 uses up a key.)
Tensor dropout(const Tensor& x, double p);

/// Zeroes entire channels of images, and divides all others by 1 - p.      x (B, C, H, W) or (C, H, W)
/// Throws ShapeError for other shapes, ValueError unless 0 <= p <= 1.                        (Tompson et al. 2015)
Tensor dropout2d(const Tensor& x, double p, const RandomKey& key);
Tensor dropout2d(const Tensor& x, double p);

}  // namespace xgrad
