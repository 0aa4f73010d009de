#include "mistake.h"

namespace xgrad::exercises {

void check::causal_attention(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&)) {
  constexpr std::int64_t T = 4;
  const Tensor q = leaf({2, T, 3}, "q"), k = leaf({2, T, 3}, "k", 2), v = leaf({2, T, 3}, "v", 3);
  using X = const Tensor&;
  const auto right = [](X q, X k, X v) { return scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}}); };
  const auto scaled = [&](double scale) {
    return scaled_dot_product_attention(q, k, v, {.mask = {.causal = true}, .scale = scale});
  };
  const Tensor scores = matmul(q, k, {.transpose_b = true}) / std::sqrt(3.);
  const auto above = [](int offset) { return triu(Mask(Shape{T, T}, true), offset); };
  const auto with = [&](const Mask& masked, double fill) {
    return matmul(softmax(masked_fill(scores, masked, fill)), v);
  };
  agree({.what = "the result",
         .meaning = "(B, T, d)",
         .hint = "scores (B, T, T), then masked_fill with minus infinity where s > t, then softmax, then the product "
                 "with v",
         .refused = {"attention", "masked_softmax"},
         .known = {{with(above(1), 1e9), "the future has the greatest scores: fill with minus infinity"},
                   {with(above(1), 0), "a score of 0 counts as e^0 = 1: fill with minus infinity"},
                   {matmul(softmax(masked_fill(scores, above(1), -infinity), 1), v),
                    "the weights of a query do not sum to 1: the softmax runs over the keys, the last axis"},
                   {matmul(masked_fill(softmax(scores), above(1), 0), v),
                    "the future keys took part in the sum of the softmax; mask the scores, before the softmax"},
                   {matmul(softmax(scores), v), "nothing is masked: position 0 leaks, it sees all that follow"},
                   {with(above(2), -infinity),
                    "position 0 leaks: it sees position 1. Mask the scores where key s > query t"},
                   {with(above(0), -infinity), "position 0 attends to nothing: each position sees itself, too"},
                   {with(tril(Mask(Shape{T, T}, true), -1), -infinity),
                    "the past is hidden and the future seen: masked_fill fills where its mask is true, at s > t"},
                   {with(tril(Mask(Shape{T, T}, true), 0), -infinity),
                    "the past is hidden and the future seen: masked_fill fills where its mask is true, at s > t"},
                   {matmul(masked_fill(scores, above(1), 0), v), "the softmax is missing"},
                   {scaled(1), "the scores are not divided by sqrt(d)"},
                   {scaled(1. / 3), "the scores are divided by d instead of sqrt(d)"},
                   {scaled(std::sqrt(3.)), "the scores are multiplied by sqrt(d): divide by it"},
                   {scaled(1. / 2), "the scores are divided by sqrt(T): d is the width, q.dim(2)"},
                   {matmul(softmax(masked_fill(scores * std::sqrt(3.), above(1), -infinity)) / std::sqrt(3.), v),
                    "the weights are divided by sqrt(d): the scores are, before the softmax"},
                   {right(k, q, v), "q and k have changed places: a row of scores belongs to a query"}},
         .why = "position t sees the positions 0 ... t, and a row must not be masked entirely"},
        answer, right, {{"q", q}, {"k", k}, {"v", v}});
  right_because() = "all positions learn in one pass, each as if nothing followed it";
}

}  // namespace xgrad::exercises
