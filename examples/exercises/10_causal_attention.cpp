// Exercise 10: Attention that does not see the future. Lesson 6, docs/learn/start/06_masks.md
//
//     y_t = sum_(s <= t) alpha_ts v_s        alpha = softmax over s <= t of q_t . k_s / sqrt(d)
//
//     q, k, v (B, T, d)      ->      (B, T, d)
//
// Operations: matmul(a, b), matmul(a, b, {.transpose_b = true}), softmax(x), masked_fill(x, mask, value) (true: fill);
// Mask(Shape{T, T}, true) is a table of true, of which tril(mask, offset) keeps s <= t + offset, and triu(mask, offset)
// keeps s >= t + offset, with t for rows and s for columns. q.dim(1) is T, and -infinity is the smallest number. Not
// scaled_dot_product_attention() of the library.
#include "exercises.h"

using namespace xgrad;

Tensor causal_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  return {};  // your lines
}
