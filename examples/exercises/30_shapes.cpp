// Exercise 30: Shapes of a model from its code. When it does not work, docs/guide/debugging.md
//
// The program cuts images into features, treats each place as a token, and attends with four heads:
//
//     const Tensor images = randn({8, 3, 32, 32});                        // (B, channels, rows, columns)
//     const Tensor a = conv2d(images, randn({16, 3, 3, 3}), {}, {.stride = 2, .padding = 1});
//     const Tensor b = max_pool2d(a, 2);
//     const Tensor tokens = transpose(reshape(b, {8, 16, -1}));
//     const Tensor heads = permute(reshape(tokens, {8, -1, 4, 4}), {0, 2, 1, 3});
//     const Tensor scores = matmul(heads, heads, {.transpose_b = true});
//     const Tensor mixed = matmul(softmax(scores), heads);
//     const Tensor logits = linear(mean(tokens, 1), randn({10, 16}));
//
// Predict the shapes of a, b, tokens, heads, scores, mixed and logits, in this order, before you run it.
#include "exercises.h"

using namespace xgrad;

std::vector<Shape> shapes() {
  return {};  // {{8, ...}, ...}
}
