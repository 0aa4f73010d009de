// Exercise NAME: A weighted sum of squares.
//
//     y_i = sum_j w_j x_ij^2
//
//     x (B, n)      w (n)      ->      (B)
//
// Operations: square(x), matmul(a, b).
#include "exercises.h"

using namespace xgrad;

Tensor NAME(const Tensor& x, const Tensor& w) {
  return {};  // your lines
}
