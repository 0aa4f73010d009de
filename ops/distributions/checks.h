// Shared by the distributions: checks of parameters and values, and shapes. Private.
#pragma once

#include <algorithm>
#include <limits>

#include "../../core/graph/tensor.h"
#include "../elementwise/elementwise.h"

namespace xgrad::distributions {

// Throws unless `good` holds for every number of the parameter or value of this name.
template <class F>
void check_each(const char* op, const char* name, const Tensor& x, const char* expected, const F& good) {
  const Array& elements = x.value();
  for (std::int64_t i = 0; i < elements.size(); ++i) {
    const Real number = elements.data()[i];
    if (!good(number)) {
      fail<ValueError>(op, name, " has ", number, " at ", position_of(i, x.shape()), "; needs ", expected);
    }
  }
}
inline void check_not_nan(const char* op, const char* name, const Tensor& x) {
  check_each(op, name, x, "numbers", [](Real number) { return number == number; });
}

// The shape of samples: draws of this shape from every distribution of the batch.
inline Shape extended(const char* op, const Shape& sample_shape, const Shape& batch) {
  if (std::any_of(sample_shape.begin(), sample_shape.end(), [](std::int64_t size) { return size < 0; })) {
    fail<ValueError>(op, "negative size in the sample shape ", sample_shape);
  }
  Shape shape = sample_shape;
  for (const std::int64_t size : batch) shape.push_back(size);
  shape.numel();  // throws where it overflows, before a draw is taken
  return shape;
}

// Logits with the largest and smallest number in place of infinities, which can be multiplied by 0.
inline Tensor finite(const Tensor& logits) {
  return clamp(logits, {.min = std::numeric_limits<Real>::lowest(), .max = std::numeric_limits<Real>::max()});
}
// Probabilities clamped away from 0 and 1 by the machine epsilon, so that their logarithms are finite.
inline Tensor within_rounding(const Tensor& probs) {
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  return clamp(probs, {.min = eps, .max = 1 - eps});
}

}  // namespace xgrad::distributions
