// Exercise 31: A gradient, derived by hand. When it does not work, docs/guide/debugging.md
//
// Llama's norm has no mean: for each row
//
//     y_i = x_i / r        r = sqrt(mean_j(x_j^2) + 1e-5)
//
// The gradient gy of y arrives. Derive that of x on paper: x_i moves y_i directly, and all y_j through r. Then write it,
// and check it yourself with finite differences before the checker does.
//
//     gy, x (..., C)      ->      (..., C)
//
// Operations: mean(x, -1, {.keepdim = true}), square(x), sqrt(x), + - * /. Not grad(), backward() and rms_norm().
#include "exercises.h"

using namespace xgrad;

Tensor rms_rule(const Tensor& gy, const Tensor& x) {
  return {};  // your lines
}
