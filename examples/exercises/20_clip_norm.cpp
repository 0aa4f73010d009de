// Exercise 20: Gradient clipping. Lesson 13, docs/learn/start/13_translation.md
//
// All gradients together are one long vector. If its length is above max_norm, the vector is scaled down to this
// length, and keeps its direction:
//
//     g_i <- g_i min(1, max_norm / norm)        norm = sqrt(sum over all gradients and elements of g^2)
//
//     gradients: a list of tensors of any shapes      ->      the list of the new gradients, in the same order
//
// Operations: sum(x), square(x), *; x.item() is the number of a tensor with one element; std::sqrt, std::min(1.0, a).
#include "exercises.h"

using namespace xgrad;

Tensors clip_norm(const Tensors& gradients, double max_norm) {
  return {};  // your lines
}
