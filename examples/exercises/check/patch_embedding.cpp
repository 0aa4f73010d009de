#include <algorithm>
#include <array>

#include "mistake.h"

namespace xgrad::exercises {

void check::patch_embedding(Tensor (*answer)(const Tensor&, std::int64_t, const Tensor&)) {
  constexpr std::int64_t B = 2, C = 3, H = 4, W = 6, p = 2, D = 5;
  const Tensor images = numbers({B, C, H, W}), weight = leaf({D, C * p * p}, "weight", 2);
  // Patches by another order of the six axes.
  const auto patches = [](const Tensor& images, const Tensor& weight, const Axes& axes) {
    return matmul(reshape(permute(reshape(images, {B, C, H / p, p, W / p, p}), axes), {B, H * W / (p * p), C * p * p}),
                  weight, {.transpose_b = true});
  };
  std::vector<Known> known{
      {matmul(reshape(images, {B, -1, C * p * p}), weight, {.transpose_b = true}),
       "token 0 has the first 12 pixels of the image in memory, two rows of one channel: reshape alone cuts "
       "no patches"},
      {matmul(reshape(permute(reshape(images, {B, C, p, H / p, p, W / p}), {0, 3, 5, 1, 2, 4}),
                      {B, H * W / (p * p), C * p * p}),
              weight, {.transpose_b = true}),
       "the pixels of a token are H/p and W/p apart: H is (H/p, p), the number of the patch before the "
       "pixel"}};
  const auto part = [](int axis) { return axis == 1 ? "channel" : axis == 3 ? "row" : "column"; };
  for (std::array order{1, 2, 3, 4, 5}; std::ranges::next_permutation(order).found;) {
    const auto [a, b, c, d, e] = order;
    const Axes axes{0, a, b, c, d, e}, patch{a, b};
    if (axes == Axes{0, 2, 4, 1, 3, 5}) continue;
    std::string text = str("of (B, C, H/p, p, W/p, p) your permute makes the order ", axes,
                           ": both that number the patches come first, then C and both of its pixels");
    if (patch == Axes{2, 4})
      text = str("the elements of a patch come as ", part(c), ", ", part(d), ", ", part(e),
                 ": the order is channel, row, column");
    if (patch == Axes{4, 2})
      text = "token 1 is the patch below token 0: patches come row by row, so it is the one to the right";
    if (patch == Axes{3, 5})
      text = "a token has one pixel of each patch: H is (H/p, p), the number of the patch before the pixel";
    known.push_back({patches(images, weight, axes), text});
  }
  agree(
      {.what = "the token",
       .meaning = "(B, H W / p^2, D), a token for each patch",
       .hint = "reshape to (B, C, H/p, p, W/p, p); move both axes that number the patches to the front; reshape again",
       .refused = {"conv2d", "unfold"},
       .known = known},
      [&](const Tensor& images, const Tensor& weight) { return answer(images, p, weight); },
      [&](const Tensor& images, const Tensor& weight) {
        return patches(images, weight, {0, 2, 4, 1, 3, 5});
      },
      {{"images", images}, {"weight", weight}});
  right_because() = "this is a convolution whose kernel and stride are p";
}

}  // namespace xgrad::exercises
