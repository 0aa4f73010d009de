#include "check.h"

namespace xgrad::exercises {

void check::encoder_block(Tensor (*answer)(const Tensor&, const Sublayer&, const Sublayer&)) {
  const Tensor x = leaf({2, 3, 4}, "x"), w = numbers({4, 4}, 2), g = numbers({2, 3, 4}, 3);
  const Sublayer attention = [](const Tensor& h) { return scaled_dot_product_attention(h, h, h); };
  const Sublayer feed_forward = [&](const Tensor& h) { return matmul(relu(matmul(h, w)), w, {.transpose_b = true}); };
  const auto norm = [](const Tensor& h) { return layer_norm(h); };
  const Tensor z = norm(x + attention(x)), right = norm(z + feed_forward(z));
  const Tensor y = answer(x, attention, feed_forward);
  written(y.defined(), "const Tensor z = layer_norm(x + attention(x)); the second half is the same with z");
  has_shape("the result", y.shape(), {2, 3, 4}, "(B, T, C)");
  const Tensor bare = norm(attention(x)), before = x + attention(norm(x));
  not_this(y, norm(feed_forward(bare)),
           "there is no residual connection: the gradient of x passes through attention and feed_forward alone");
  not_this(y, norm(bare + feed_forward(bare)), "the first residual connection is missing: z = norm(x + attention(x))");
  not_this(y, norm(feed_forward(z)), "the second residual connection is missing: y = norm(z + feed_forward(z))");
  not_this(y, before + feed_forward(norm(before)),
           "this is the pre-norm block, x + f(norm(x)): here the norm comes after the sum");
  not_this(y, norm(x + feed_forward(z)), "the second residual connection adds x: it adds z, the input of feed_forward");
  not_this(y, z + feed_forward(z), "the last norm is missing: y = norm(z + feed_forward(z))");
  same("y", y, right, "z = norm(x + attention(x)), y = norm(z + feed_forward(z))");
  same("the gradient of x", grad(sum(y * g), {x})[0], grad(sum(right * g), {x})[0], {}, 1e-3);
  right_because() = "the gradient of x also takes the sums, past attention and feed_forward";
}

}  // namespace xgrad::exercises
