// Exercise 17: A loss without the padding. Lesson 11, docs/learn/start/11_learning.md
//
// Each position of a batch has a loss l_bt. Positions whose target is `pad` do not count, neither in the sum nor in the
// number that the sum is divided by:
//
//     L = sum_bt m_bt l_bt / sum_bt m_bt        m_bt = 0 if targets_bt = pad, else 1
//
//     losses (B, T)      targets (B, T)      ->      []
//
// Operations: a != b compares an Index with a number, to_real(mask) is 1 where a mask is true, else 0; sum(x), * /.
#include "exercises.h"

using namespace xgrad;

Tensor padded_loss(const Tensor& losses, const Index& targets, std::int64_t pad) {
  return {};  // your lines
}
