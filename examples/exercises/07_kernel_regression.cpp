// Exercise 7: Kernel regression. Lesson 5, docs/learn/start/05_attention_pooling.md
//
// n points (keys_i, values_i) were observed. The prediction at a query x is a weighted mean of the values:
//
//     f(x) = sum_i alpha_i values_i        alpha = softmax(s)        s_i = -(w (x - keys_i))^2 / 2
//
//     queries (m)      keys (n)      values (n)      w []      ->      (m)
//
// Operations: softmax(s) along the last axis, square(x), matmul(a, b), + - * /, and x[{_, new_axis}] or reshape(x, {-1,
// 1}) to make a column of a list.
#include "exercises.h"

using namespace xgrad;

Tensor kernel_regression(const Tensor& queries, const Tensor& keys, const Tensor& values, const Tensor& w) {
  return {};  // your lines
}
