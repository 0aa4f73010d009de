// Exercise 3: A linear layer. Lesson 3, docs/learn/start/03_layer.md
//
//     Y = X W^T + b        Y_ij = sum_k X_ik W_jk + b_j
//
//     x (B, in)      weight (out, in)      bias (out)      ->      (B, out)
//
// Operations: matmul(a, b), transpose(a), +. Not linear(), which is the answer.
#include "exercises.h"

using namespace xgrad;

Tensor linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return {};  // your lines
}
