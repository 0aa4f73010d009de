// A function whose gradient rule a test chooses, right or wrong.
#pragma once

#include <utility>

#include <xgrad/core/graph/record.h>
#include <xgrad/ops/elementwise/arithmetic.h>

#include "support/check.h"

namespace xgrad::testing {

/// x^3, whose gradient is what rule(gy, x) gives.
template <class Rule>
Function cube(Rule rule) {
  return [rule = std::move(rule)](const Tensors& xs) {
    const Tensor x = xs[0], plain = x.detach();
    return record("cube", (plain * plain * plain).value(), wrt(x, [x, rule](const Tensor& gy) { return rule(gy, x); }));
  };
}

}  // namespace xgrad::testing
