#include "check.h"

namespace xgrad::exercises {

void check::patch_embedding(Tensor (*answer)(const Tensor&, std::int64_t, const Tensor&)) {
  constexpr std::int64_t B = 2, C = 3, H = 4, W = 6, p = 2, D = 5;
  const Tensor images = numbers({B, C, H, W}), weight = leaf({D, C * p * p}, "weight", 2);
  Operations ran;
  const Tensor tokens = answer(images, p, weight);
  written(tokens.defined(),
          "reshape to (B, C, H/p, p, W/p, p); move both axes that number the patches to the front; reshape again");
  ran.refuse({"conv2d", "unfold"});
  has_shape("the result", tokens.shape(), {B, H * W / (p * p), D}, "(B, H W / p^2, D), a token for each patch");
  // Patches, row by row, by another order of the six axes.
  const auto patches = [&](const Axes& axes) {
    return matmul(reshape(permute(reshape(images, {B, C, H / p, p, W / p, p}), axes), {B, H * W / (p * p), C * p * p}),
                  weight, {.transpose_b = true});
  };
  const Tensor right = patches({0, 2, 4, 1, 3, 5});
  not_this(
      tokens, matmul(reshape(images, {B, -1, C * p * p}), weight, {.transpose_b = true}),
      "token 0 has the first 12 pixels of the image in memory, two rows of one channel: reshape alone cuts no patches");
  not_this(tokens, patches({0, 2, 4, 3, 5, 1}),
           "the elements of a patch come as row, column, channel: the order is channel, row, column");
  not_this(tokens, patches({0, 4, 2, 1, 3, 5}),
           "token 1 is the patch below token 0: patches come row by row, so it is the one to the right");
  not_this(tokens, patches({0, 2, 4, 1, 5, 3}), "each patch is transposed: its elements come row by row");
  same("the token", tokens, right);
  const Tensor g = numbers(tokens.shape(), 3);
  same("the gradient of weight", grad(sum(tokens * g), {weight})[0], grad(sum(right * g), {weight})[0]);
  right_because() = "this is a convolution whose kernel and stride are p";
}

}  // namespace xgrad::exercises
