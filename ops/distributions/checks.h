// Shared by the distributions: checks of parameters and values, and shapes. Private.
#pragma once

#include <algorithm>

#include "../../core/graph/tensor.h"
#include "../indexing/axis.h"

namespace xgrad::distributions {

// Throws unless `good` holds for every number of the parameter or value of this name.
void check_each(const char* op, const char* name, const Tensor& x, const char* expected, const auto& good) {
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
  Shape shape = joined(sample_shape, batch);
  (void)shape.numel();  // throws where it overflows, before a draw is taken
  return shape;
}

}  // namespace xgrad::distributions
