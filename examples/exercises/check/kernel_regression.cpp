#include "mistake.h"

namespace xgrad::exercises {

void check::kernel_regression(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&, const Tensor&)) {
  const Tensor w = variable(1.5, "w");
  const Tensor keys = numbers({4}, 2), values = numbers({4}, 3), queries = numbers({5});
  using T = const Tensor&;
  const auto regression = [](T x, T keys, T values, T w) {
    return matmul(softmax(square(w * (x[{_, new_axis}] - keys)) / -2), values);
  };
  const Tensor distances = queries[{_, new_axis}] - keys;
  const auto of = [&](const Tensor& scores) { return matmul(softmax(scores), values); };
  const Compared compared{
      .what = "f",
      .meaning = "one prediction for each query",
      .hint = "queries[{_, new_axis}] - keys is a table (m, n) with each query minus each key",
      .misfit = "a row for each query, a column for each key: make the queries a column",
      .known = {
          {of(square(w * distances) / 2), "the farther a point, the greater its weight: the score has a minus"},
          {matmul(softmax(square(w * distances) / -2, 0), values),
           "the weights of a key sum to 1, not those of a query: softmax goes along the keys, the last axis"},
          {of(w * square(distances) / -2), "w stands outside the square: w (x - key) is squared"},
          {of(-square(w * distances)), "your square is not divided by 2"},
          {of(square(w * distances)), "your square is neither divided by 2 nor has it a minus"},
          {matmul(square(w * distances) / sum(square(w * distances), -1, {.keepdim = true}), values),
           "the scores are divided by their sum: softmax takes e^s first"},
          {of(softmax(square(w * distances) / -2)), "the softmax is taken twice"},
          {of(w * queries[{_, new_axis}] * keys), "the score is a product: it is a distance, (query - key) squared"},
          {of(w * distances / -2), "the distance is not squared"},
          {of(0 * distances),
           "all weights are equal, as if the scores were 0: a factor of 0, such as -1 / 2, which is "
           "0 in C++ (-1.0 / 2 is not)"},
          {of(abs(w * distances) / -2), "the distance is not squared"},
          {matmul(exp(square(w * distances) / -2), values),
           "the weights of a query do not sum to 1: softmax divides each by their sum"},
          {matmul(square(w * distances) / -2, values), "the softmax is missing: the scores are no weights yet"}}};
  agree(compared, answer, regression, {{"queries", queries}, {"keys", keys}, {"values", values}, {"w", w}});
  agree({.what = "with 7 queries and 4 keys f"}, answer, regression,
        {{"queries", numbers({7}, 5)}, {"keys", keys}, {"values", values}, {"w", w}});
  right_because() = "this is attention, with a score that is a distance";
}

}  // namespace xgrad::exercises
