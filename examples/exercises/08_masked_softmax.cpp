// Exercise 8: Masked softmax. Lesson 6, docs/learn/start/06_masks.md
//
// Only the first lengths_b keys of sequence b are valid. The others get the weight 0, and each row still sums to 1:
//
//     alpha_bts = m_bs e^(s_bts) / sum_j m_bj e^(s_btj)        m_bs = 1 if s < lengths_b, else 0
//
//     scores (B, T, S)      lengths (B)      ->      (B, T, S)
//
// Operations: softmax(x), masked_fill(x, mask, value) with a mask that broadcasts to x (true: fill), where(mask, a, b);
// scores.dim(-1) is S, arange(S) is the Index 0, 1, ..., S - 1, a >= b compares two Index with broadcasting,
// reshape(lengths, {-1, 1, 1}) is (B, 1, 1), and -infinity is the smallest number. Not the library's masked_softmax().
#include "exercises.h"

using namespace xgrad;

Tensor masked_softmax(const Tensor& scores, const Index& lengths) {
  return {};  // your lines
}
