// Exercise 14: A block of an encoder. Lesson 9, docs/learn/start/09_block.md
//
// Two residual connections, each followed by a layer norm (post-norm):
//
//     z = norm(x + attention(x))        y = norm(z + feed_forward(z))
//
//     x (B, T, C)      ->      (B, T, C)
//
// `attention` and `feed_forward` are functions: attention(x) is a tensor like x. Operations: layer_norm(x), +.
#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

Tensor encoder_block(const Tensor& x, const Sublayer& attention, const Sublayer& feed_forward) {
  return {};  // your lines
}
