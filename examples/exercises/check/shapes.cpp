#include "check.h"

namespace xgrad::exercises {

void check::shapes(std::vector<Shape> (*answer)()) {
  const std::vector<Shape> predicted = answer();
  written(!predicted.empty(), "a convolution with padding 1 and stride 2 has a result at every second row and column");
  const Tensor images = numbers({8, 3, 32, 32}),
               a = conv2d(images, numbers({16, 3, 3, 3}), {}, {.stride = 2, .padding = 1});
  const Tensor b = max_pool2d(a, 2), tokens = transpose(reshape(b, {8, 16, -1}));
  const Tensor heads = permute(reshape(tokens, {8, -1, 4, 4}), {0, 2, 1, 3});
  const Tensor scores = matmul(heads, heads, {.transpose_b = true}), mixed = matmul(softmax(scores), heads);
  const std::tuple<const char*, Tensor, const char*> right[] = {
      {"a", a, "(B, filters, rows, columns): a filter gives one channel, and (32 + 2 - 3) / 2 + 1 rows, rounded down"},
      {"b", b, "pooling takes one element of each 2 x 2"},
      {"tokens", tokens, "-1 is what is left, 8 x 8 places; transpose exchanges the last two axes"},
      {"heads", heads, "axis i of permute's result is axis axes[i] of its input"},
      {"scores", scores, "a score for each pair of tokens, in each head"},
      {"mixed", mixed, "a weighted mean of the rows of heads for each token"},
      {"logits", linear(mean(tokens, 1), numbers({10, 16})), "mean(x, 1) removes axis 1; a weight is (out, in)"}};
  if (predicted.size() != 7) not_yet("the list has ", predicted.size(), " shapes instead of 7");
  for (std::size_t i = 0; i < 7; ++i) {
    const auto& [name, tensor, hint] = right[i];
    if (predicted[i] != tensor.shape()) not_yet(name, " is not ", predicted[i], ": ", hint);
  }
  right_because() =
      "the scores have the most elements, 16 times as many as the tokens: they grow with the square of the length";
}

}  // namespace xgrad::exercises
