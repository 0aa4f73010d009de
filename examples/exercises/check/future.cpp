#include "mistake.h"

namespace xgrad::exercises {

void check::future(Tensor (*answer)(const Tensor&, const Tensor&)) {
  const Tensor x = leaf({2, 5, 4}, "x"), w = leaf({4, 4}, "w", 2), y = answer(x, w);
  written(y.defined(), "the program is whole, and one line of it is wrong");
  const Tensor later = x + to_real(reshape(arange(5), {5, 1}) == 4), changed = answer(later, w);
  if (changed.shape() == y.shape() &&
      !allclose(changed[{_, slice(0, 4)}], y[{_, slice(0, 4)}], {.rtol = 1e-4, .atol = 1e-5})) {
    // Means of a channel over all positions stay while its elements of the last two change places.
    const Tensor channel = x[{_, _, slice(0, 1)}];
    const Tensor turned = concat({channel[{_, slice(0, 3)}], channel[{_, slice(4, 5)}], channel[{_, slice(3, 4)}]}, 1);
    const Tensor swapped = answer(concat({turned, x[{_, _, slice(1, none)}]}, 2), w);
    if (!allclose(swapped[{_, slice(0, 3)}], y[{_, slice(0, 3)}], {.rtol = 1e-4, .atol = 1e-5}))
      not_yet("position 0 attends to position 4: the mask and the softmax were right before you changed something");
    not_yet(
        "position 0 changes when position 4 changes. A hint: which lines bring positions together? Attention does, "
        "with its mask; find the other one");
  }
  agree(
      {.what = "y", .meaning = "(B, T, C)", .why = "the norm, the mask and the sum stay, and only one line was wrong"},
      answer,
      [](const Tensor& x, const Tensor& w) {
        const Tensor h = layer_norm(x);
        const Tensor scores = matmul(matmul(h, w), h, {.transpose_b = true}) / std::sqrt(x.dim(2));
        return x + matmul(softmax(masked_fill(scores, triu(Mask(Shape{x.dim(1), x.dim(1)}, true), 1), -infinity)), h);
      },
      {{"x", x}, {"w", w}});
  right_because() =
      "a norm over positions has a mean of the future; nn::check_causality finds such a line by its module";
}

}  // namespace xgrad::exercises
