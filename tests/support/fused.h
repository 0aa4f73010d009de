// The check of fused operations: the kernel is the composed form, in values, first and second gradients; and what else tests of
// both forms take: leaves of several arrays, the comparison of several tensors, and the operations of a graph.
#pragma once

#include "check.h"

namespace xgrad::testing {

/// Leaves with these values.
Tensors variables(const std::vector<Array>& values);
/// check_close for each of several tensors.
void check_each_close(const Tensors& all, const Tensors& expected, double tolerance = 1e-12, double terms = 0);

/// The names of the operations in the graphs of these tensors, those of inputs before those of results.
std::vector<std::string> operations_in(const Tensors& results);

/// Checks that a fused operation is the same function as its composed form, in operations: their values; for a random
/// cotangent, the gradients by the fused operation's kernel, those by its recorded rule, and those of the composed
/// form; and, for a random cotangent of these gradients, the second gradients of both; and what the fused operation is
/// under Plain, in values and gradients. `tolerance` is as in check_close, ten times that for second gradients; and so
/// are `terms`.
void check_fused(const Function& fused, const Function& composed, const std::vector<Array>& inputs,
                 double tolerance = 1e-12, double terms = 0);

}  // namespace xgrad::testing
