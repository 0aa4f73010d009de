#include "check.h"

namespace xgrad::exercises {

void check::causal_attention(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&)) {
  constexpr std::int64_t T = 4;
  const Tensor q = leaf({2, T, 3}, "q"), k = leaf({2, T, 3}, "k", 2), v = leaf({2, T, 3}, "v", 3),
               g = numbers({2, T, 3}, 4);
  Operations ran;
  const Tensor y = answer(q, k, v);
  written(y.defined(),
          "scores (B, T, T), then masked_fill with minus infinity where s > t, then softmax, then the product with v");
  ran.refuse({"attention", "masked_softmax"});
  has_shape("the result", y.shape(), {2, T, 3}, "(B, T, d)");
  has_no_nan("the result", y,
             "plus infinity in place of minus, or a row whose keys are all masked; position t sees itself");
  const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(3.);
  const Mask future = triu(Mask(Shape{T, T}, true), 1);
  not_this(y, matmul(softmax(masked_fill(scores, future, 0)), v),
           "a score of 0 counts as e^0 = 1: fill with minus infinity");
  not_this(y, matmul(softmax(masked_fill(scores, future, -infinity), 1), v),
           "the weights of a query do not sum to 1: the softmax runs over the keys, the last axis");
  not_this(y, matmul(masked_fill(softmax(scores), future, 0), v),
           "the future keys took part in the sum of the softmax; mask the scores, before the softmax");
  // A prefix gives the same results, whatever follows it.
  for (std::int64_t t = 0; t + 1 < T; ++t) {
    const auto front = slice(0, t + 1);
    const auto other = [&](const Tensor& x) { return concat({x[{_, front}], x[{_, slice(t + 1, none)}] + 1}, 1); };
    const Tensor changed = answer(other(q), other(k), other(v));
    if (!allclose(changed[{_, front}], y[{_, front}], {.rtol = 1e-4, .atol = 1e-5})) {
      const auto other_past = [](const Tensor& x) {
        return concat({x[{_, slice(0, 1)}] + 1, x[{_, slice(1, none)}]}, 1);
      };
      if (equal(answer(q, other_past(k), other_past(v))[{_, -1}].value(), y[{_, -1}].value()))
        not_yet("the past is hidden and the future seen: masked_fill fills where its mask is true, at s > t");
      not_yet("position ", t, " leaks: its result changes when position ", t + 1,
              " changes. Mask the scores where key s > query t");
    }
  }
  if (allclose(y[{_, 0}], zeros({2, 3}))) not_yet("position 0 attends to nothing: each position sees itself, too");
  if (!allclose(y[{_, 0}], v[{_, 0}], {.atol = 1e-5})) {
    not_yet("the result of position 0 is not v_0: it sees only itself, with the weight 1");
  }
  not_this(y, scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}, .scale = 1}),
           "the scores are not divided by sqrt(d)");
  not_this(y, scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}, .scale = 1. / 3}),
           "the scores are divided by d instead of sqrt(d)");
  not_this(y, scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}, .scale = 1. / 2}),
           "the scores are divided by sqrt(T): d is the width, q.dim(2)");
  not_this(y, scaled_dot_product_attention(k, q, v, {.mask = {.causal = true}}),
           "q and k have changed places: a row of scores belongs to a query");
  const Tensor right = scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}});
  same("the result", y, right);
  const Tensors gradients = grad(sum(y * g), {q, k, v}), expected = grad(sum(right * g), {q, k, v});
  for (std::size_t i = 0; i < 3; ++i) same(str("the gradient of ", "qkv"[i]), gradients[i], expected[i]);
  right_because() = "all positions learn in one pass, each as if nothing followed it";
}

}  // namespace xgrad::exercises
