// Dropout.
#pragma once

#include "../../core/array/random.h"
#include "../../core/graph/tensor.h"

namespace xgrad {

/// Zeroes every element with probability p and divides all others by 1 - p, which preserves the mean. The choice is a
/// function of the key and the element's position only; p = 1 gives zeros.      dy/dx = 1/(1 - p) or 0
/// Throws ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, const RandomKey& key);
/// Dropout with the generator's next key. (p = 0 takes a key, too.)
Tensor dropout(const Tensor& x, double p);

/// Zeroes entire channels, and divides all others by 1 - p.      x (B, C, L) or (C, L)      (Tompson et al. 2015)
/// These throw ShapeError for other shapes, ValueError unless 0 <= p <= 1.
Tensor dropout1d(const Tensor& x, double p, const RandomKey& key);
Tensor dropout1d(const Tensor& x, double p);
/// Dropout of whole channels of images.      x (B, C, H, W) or (C, H, W)
Tensor dropout2d(const Tensor& x, double p, const RandomKey& key);
Tensor dropout2d(const Tensor& x, double p);

/// For networks with selu: elements become its least value with probability p, and then all are scaled and moved so
/// that mean 0 and variance 1 stay (Klambauer et al. 2017):
///     y = a v + b, v = x or alpha, alpha = -1.758..., a = ((1 - p)(1 + p alpha^2))^(-1/2), b = -a p alpha
/// p = 1 gives zeros. Throws ValueError unless 0 <= p <= 1.
Tensor alpha_dropout(const Tensor& x, double p, const RandomKey& key);
Tensor alpha_dropout(const Tensor& x, double p);
/// Alpha dropout of entire channels, axis 1 of x (B, C, ...). Throws ShapeError, too, below two axes.
Tensor feature_alpha_dropout(const Tensor& x, double p, const RandomKey& key);
Tensor feature_alpha_dropout(const Tensor& x, double p);

}  // namespace xgrad
