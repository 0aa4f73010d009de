// Exercise 15: Teacher forcing. Lesson 10, docs/learn/start/10_encoder_decoder.md
//
// The decoder reads the target one position late: position 0 reads the word `bos`, position t reads word t - 1. The
// last word is read by nobody.
//
//     target (B, T)      ->      (B, T)
//
// Operations: concat({a, b}, axis) of two Index, Index(Shape{B, 1}, bos) with B = target.dim(0), and
// target[{_, slice(first, last)}], which stops before `last`: slice(none, -1) leaves out the last column.
#include "exercises.h"

using namespace xgrad;

Index shift_right(const Index& target, std::int64_t bos) {
  return {};  // your lines
}
