// Exercise 28: Find the bug: a model that sees the future. When it does not work, docs/guide/debugging.md
//
// This is the first half of a GPT's block, y = x + attention(norm(x)), with one matrix for the scores. It trains to an
// excellent loss and writes nonsense, since each position knows what follows it, although the mask is right. One line
// is wrong: find it and mend it.
//
//     x (B, T, C)      w (C, C)      ->      (B, T, C)
#include "exercises.h"

using namespace xgrad;

Tensor future(const Tensor& x, const Tensor& w) {
  const std::int64_t T = x.dim(1), C = x.dim(2);
  const Tensor h = (x - mean(x, 1, {.keepdim = true})) / sqrt(var(x, 1, {.keepdim = true, .correction = 0}) + 1e-5);
  const Tensor scores = matmul(matmul(h, w), h, {.transpose_b = true}) / std::sqrt(C);
  const Mask later = triu(Mask(Shape{T, T}, true), 1);
  const Tensor weights = softmax(masked_fill(scores, later, -infinity));
  return x + matmul(weights, h);
}
