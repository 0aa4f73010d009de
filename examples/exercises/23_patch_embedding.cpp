// Exercise 23: A patch embedding. Vision, docs/topics/vision.md
//
// A vision transformer cuts an image into patches of p x p pixels and maps each to a vector of width D. The patches
// come row by row, and the elements of a patch in the order channel, row, column:
//
//     token_n = E patch_n        patch_n = the C p p pixels of patch n
//
//     images (B, C, H, W)      weight E (D, C p p)      ->      (B, H W / p^2, D)
//
// Operations: reshape(x, shape), permute(x, axes), matmul(a, b, {.transpose_b = true}). images.dim(2) is H. Not
// conv2d() and unfold().
#include "exercises.h"

using namespace xgrad;

Tensor patch_embedding(const Tensor& images, std::int64_t p, const Tensor& weight) {
  return {};  // your lines
}
