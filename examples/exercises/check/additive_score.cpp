#include "mistake.h"

namespace xgrad::exercises {

void check::additive_score(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                                            const Tensor&)) {
  const Tensor q = leaf({2, 3, 5}, "q"), k = leaf({2, 4, 6}, "k", 2), w_q = leaf({7, 5}, "w_q", 3),
               w_k = leaf({7, 6}, "w_k", 4), w_v = leaf({7}, "w_v", 5);
  const auto to_q = [](const Tensor& q, const Tensor& w) { return unsqueeze(matmul(q, w, {.transpose_b = true}), 2); };
  const auto to_k = [](const Tensor& k, const Tensor& w) { return unsqueeze(matmul(k, w, {.transpose_b = true}), 1); };
  const Tensor a = to_q(q, w_q), b = to_k(k, w_k);  // (B, T, 1, h), (B, 1, S, h)
  const char* dot = "W_q q and W_k k are multiplied, as in a dot product: add them, and take tanh of the sum";
  agree({.what = "the score",
         .meaning = "(B, T, S), a row for each query, a column for each key",
         .hint =
             "W_q q of shape (B, T, 1, h) plus W_k k of shape (B, 1, S, h) is (B, T, S, h): every query with every key",
         .misfit = "W_q q needs a new axis for the keys, and W_k k one for the queries",
         .known = {{matmul(a + b, w_v), "the scores are those without the tanh"},
                   {matmul(tanh(a) + tanh(b), w_v), "tanh of the sum is not the sum of two tanh: add first"},
                   {matmul(tanh(a) + b, w_v), "tanh is taken of W_q q alone: it is that of the sum"},
                   {matmul(a + tanh(b), w_v), "tanh is taken of W_k k alone: it is that of the sum"},
                   {tanh(matmul(a + b, w_v)), "tanh belongs to the h elements inside, before the product with w_v"},
                   {matmul(relu(a + b), w_v), "relu stands where tanh belongs"},
                   {matmul(tanh(a * b), w_v), "W_q q and W_k k are multiplied: add them"},
                   {sum(a * b, -1), dot},
                   {matmul(a * b, w_v), dot},
                   {tanh(matmul(a * b, w_v)), dot},
                   {matmul(tanh(a - b), w_v), "W_k k is subtracted: add it"},
                   {sum(tanh(a + b), -1), "w_v takes no part: the h elements are multiplied by it and summed"},
                   {sum(tanh(a + b) + w_v, -1), "w_v is added: the h elements are multiplied by it and summed"},
                   {softmax(matmul(tanh(a + b), w_v)), "these are weights: the softmax is no part of the score"}}},
        answer,
        [&](const Tensor& q, const Tensor& k, const Tensor& w_q, const Tensor& w_k, const Tensor& w_v) {
          return matmul(tanh(to_q(q, w_q) + to_k(k, w_k)), w_v);
        },
        {{"q", q}, {"k", k}, {"w_q", w_q}, {"w_k", w_k}, {"w_v", w_v}});
  right_because() = "each pair of a query and a key costs h elements, with a dot product only one";
}

}  // namespace xgrad::exercises
