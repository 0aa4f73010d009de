// Utilities for tests of optimizers.
#pragma once

#include <string>
#include <vector>

#include "support/check.h"

#include <xgrad/optim/optim.h>

namespace xgrad::testing {

/// Three steps from (1, -2, 3) with fixed gradients.
template <class Make>
Array after_three_steps(const Make& make) {
  const Tensor x = variable(Array({3}, {1, -2, 3}), "x");
  auto optimizer = make(Tensors{x});
  const std::vector<Array> gradients{Array({3}, {0.5, -1.5, 2.0}), Array({3}, {0.25, 1.0, -4.0}),
                                     Array({3}, {-0.125, 0.75, 1e-3})};
  for (const Array& g : gradients) optimizer->step({g});
  return x.value();
}

}  // namespace xgrad::testing
