#include "mistake.h"

namespace xgrad::exercises {

void check::encoder_block(Tensor (*answer)(const Tensor&, const Sublayer&, const Sublayer&)) {
  const Tensor x = leaf({2, 3, 4}, "x"), w = numbers({4, 4}, 2);
  const Sublayer attention = [](const Tensor& h) { return scaled_dot_product_attention(h, h, h); };
  const Sublayer feed_forward = [&](const Tensor& h) { return matmul(relu(matmul(h, w)), w, {.transpose_b = true}); };
  const auto norm = [](const Tensor& h) { return layer_norm(h); };
  const Tensor z = norm(x + attention(x));
  const Tensor bare = norm(attention(x)), before = x + attention(norm(x));
  agree(
      {.what = "y",
       .meaning = "(B, T, C)",
       .hint = "const Tensor z = layer_norm(x + attention(x)); the second half is the same with z",
       .known =
           {{norm(feed_forward(bare)),
             "there is no residual connection: the gradient of x passes through attention and feed_forward alone"},
            {norm(bare + feed_forward(bare)), "the first residual connection is missing: z = norm(x + attention(x))"},
            {norm(feed_forward(z)), "the second residual connection is missing: y = norm(z + feed_forward(z))"},
            {before + feed_forward(norm(before)),
             "this is the pre-norm block, x + f(norm(x)): here the norm comes after the sum"},
            {norm(before + feed_forward(norm(before))),
             "this is the pre-norm block, x + f(norm(x)): here the norm comes after the sum"},
            {norm(x + feed_forward(z)), "the second residual connection adds x: it adds z, the input of feed_forward"},
            {norm(z + feed_forward(x)), "feed_forward takes x: it takes z"},
            {norm(z + attention(z)), "attention stands in the second half: feed_forward belongs there"},
            {norm(norm(x + feed_forward(x)) + attention(norm(x + feed_forward(x)))),
             "feed_forward comes first: attention does"},
            {x + norm(attention(x)) + norm(feed_forward(x + norm(attention(x)))),
             "the norm goes over attention(x) alone: it goes over the sum"},
            {norm(norm(x - attention(x)) + feed_forward(norm(x - attention(x)))), "attention(x) is subtracted: add it"},
            {norm(z + feed_forward(z) + x), "x is added once more at the end: the second sum is z + feed_forward(z)"},
            {norm(z + feed_forward(feed_forward(z))), "feed_forward is applied twice"},
            {z, "this is z: the second half, norm(z + feed_forward(z)), is missing"},
            {norm(x + feed_forward(x)), "attention takes no part: z = norm(x + attention(x))"},
            {norm(x + attention(x) + feed_forward(x + attention(x))),
             "the first norm is missing: z = norm(x + attention(x))"},
            {x + attention(x) + feed_forward(x + attention(x)), "both norms are missing"},
            {norm(x + attention(x)) + norm(feed_forward(z)), "the norm comes after the sum"},
            {norm(x + attention(x) + feed_forward(x)),
             "attention and feed_forward both take x: feed_forward takes z, the result of the first half"},
            {norm(x) + attention(norm(x)), "the norm comes after the sum: z = norm(x + attention(x))"},
            {z + feed_forward(z), "the last norm is missing: y = norm(z + feed_forward(z))"}},
       .why = "z = norm(x + attention(x)), y = norm(z + feed_forward(z))",
       .tolerance = 1e-3},
      [&](const Tensor& x) { return answer(x, attention, feed_forward); },
      [&](const Tensor& x) {
        const Tensor z = norm(x + attention(x));
        return norm(z + feed_forward(z));
      },
      {{"x", x}});
  right_because() = "the gradient of x also takes the sums, past attention and feed_forward";
}

}  // namespace xgrad::exercises
