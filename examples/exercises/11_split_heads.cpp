// Exercise 11: Heads by reshape. Lesson 7, docs/learn/start/07_heads.md
//
// Head h of a row of width C has the columns h d ... (h + 1) d - 1, with d = C / H. Give each head its own matrix (T,
// d), so that one matmul treats all heads of all sequences.
//
//     x (B, T, C)      heads = H      ->      (B, H, T, d)        y_bhti = x_bt(h d + i)
//
// Operations: reshape(x, shape), which keeps the order of the elements in memory, and permute(x, axes), axis i of whose
// result is axis axes[i] of x. x.dim(0) is B.
#include "exercises.h"

using namespace xgrad;

Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return {};  // your lines
}
