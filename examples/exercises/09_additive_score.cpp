// Exercise 9: The additive score. Lesson 6, docs/learn/start/06_masks.md
//
// A small network scores every key against every query, which may differ in width:
//
//     s_ts = w_v . tanh(W_q q_t + W_k k_s)
//
//     q (B, T, Dq)    k (B, S, Dk)    w_q (h, Dq)    w_k (h, Dk)    w_v (h)      ->      (B, T, S)
//
// Operations: matmul(a, b, {.transpose_b = true}), matmul(x, v) with a vector v (h), tanh(x), +, and x[{_, _,
// new_axis}] or unsqueeze(x, axis) for a new axis of size 1, along which + repeats.
#include "exercises.h"

using namespace xgrad;

Tensor additive_score(const Tensor& q, const Tensor& k, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
  return {};  // your lines
}
