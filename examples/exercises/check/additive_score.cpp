#include "check.h"

namespace xgrad::exercises {

void check::additive_score(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                            const Tensor&)) {
  const Tensor q = numbers({2, 3, 5}), k = numbers({2, 4, 6}, 2), g = numbers({2, 3, 4}, 6);
  const Tensors weights{leaf({7, 5}, "w_q", 3), leaf({7, 6}, "w_k", 4), leaf({7}, "w_v", 5)};
  const Tensor to_q = unsqueeze(matmul(q, weights[0], {.transpose_b = true}), 2);  // (B, T, 1, h)
  const Tensor to_k = unsqueeze(matmul(k, weights[1], {.transpose_b = true}), 1);  // (B, 1, S, h)
  const Tensor right = matmul(tanh(to_q + to_k), weights[2]);
  const Tensor scores = hinted("W_q q needs a new axis for the keys, and W_k k one for the queries",
                               [&] { return answer(q, k, weights[0], weights[1], weights[2]); });
  written(scores.defined(),
          "W_q q of shape (B, T, 1, h) plus W_k k of shape (B, 1, S, h) is (B, T, S, h): every query with every key");
  if (scores.shape() == Shape{2, 4, 3})
    not_yet("the scores have the shape [2, 4, 3], a row for each key: the rows are queries, the columns keys");
  has_shape("the result", scores.shape(), {2, 3, 4}, "(B, T, S), a score for each query and key");
  not_this(scores, matmul(to_q + to_k, weights[2]), "the scores are those without the tanh");
  not_this(scores, matmul(tanh(to_q) + tanh(to_k), weights[2]),
           "tanh of the sum is not the sum of two tanh: add first");
  not_this(scores, tanh(matmul(to_q + to_k, weights[2])),
           "tanh belongs to the h elements inside, before the product with w_v");
  same("the score", scores, right);
  const Tensors gradients = grad(sum(scores * g), weights), expected = grad(sum(right * g), weights);
  const char* const names[] = {"w_q", "w_k", "w_v"};
  for (std::size_t i = 0; i < 3; ++i) same(str("the gradient of ", names[i]), gradients[i], expected[i]);
  right_because() = "each pair of a query and a key costs h elements, with a dot product only one";
}

}  // namespace xgrad::exercises
