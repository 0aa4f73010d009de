// Exercise 13: The gradient rule of layer norm. Lesson 9, docs/learn/start/09_block.md
//
// A layer norm without parameters is y = (x - mean) / sigma for each row, sigma = sqrt(variance + 1e-5), the variance
// without a correction. The gradient gy of y arrives. The gradient of x takes into account that each x_j also moves
// mean and sigma:
//
//     gx_i = (gy_i - mean_j(gy_j) - y_i mean_j(gy_j y_j)) / sigma
//
//     gy, x (..., C)      ->      (..., C)
//
// Operations: mean(x, -1, {.keepdim = true}), var(x, -1, {.keepdim = true, .correction = 0}), sqrt(x), + - * /. Not
// grad(), backward() and layer_norm().
#include "exercises.h"

using namespace xgrad;

Tensor layer_norm_rule(const Tensor& gy, const Tensor& x) {
  return {};  // your lines
}
