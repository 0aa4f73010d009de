// Dropout.
#pragma once

#include "../core/random.h"
#include "../core/tensor.h"

namespace xgrad {

/// Every element is zeroed with probability p, the others are divided by 1 - p, so that the mean stays. Which ones is a
/// function of the key and the element's position alone; p = 1 gives zeros.      dy/dx = 1/(1 - p) or 0
/// Throws ValueError unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p, const RandomKey& key);
/// The same with the generator's next key. (p = 0 takes one, too.)
Tensor dropout(const Tensor& x, double p);

}  // namespace xgrad
