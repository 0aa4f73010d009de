#include "check.h"

namespace xgrad::exercises {

void check::kernel_regression(Tensor (*answer)(const Tensor&, const Tensor&, const Tensor&, const Tensor&)) {
  const Tensor w = variable(1.5, "w"), g = numbers({5}, 4);
  const Tensor keys = numbers({4}, 2), values = numbers({4}, 3), queries = numbers({5});
  const auto regression = [&](const Tensor& x) {
    return matmul(softmax(square(w * (x[{_, new_axis}] - keys)) / -2), values);
  };
  const Tensor f = hinted("a row for each query, a column for each key: make the queries a column",
                          [&] { return answer(queries, keys, values, w); });
  written(f.defined(), "queries[{_, new_axis}] - keys is a table (m, n) with each query minus each key");
  has_shape("the result", f.shape(), {5}, "one prediction for each query");
  const Tensor distances = queries[{_, new_axis}] - keys;
  not_this(f, matmul(softmax(square(w * distances) / 2), values),
           "the farther a point, the greater its weight: the score has a minus");
  not_this(f, matmul(softmax(square(w * distances) / -2, 0), values),
           "the weights of a key sum to 1, not those of a query: softmax goes along the keys, the last axis");
  not_this(f, matmul(transpose(softmax(square(w * transpose(distances)) / -2)), values),
           "rows are keys and columns are queries: make the queries a column");
  not_this(f, matmul(softmax(w * square(distances) / -2), values),
           "w stands outside the square: w (x - key) is squared");
  not_this(f, matmul(softmax(-square(w * distances)), values), "your square is not divided by 2");
  not_this(f, matmul(exp(square(w * distances) / -2), values),
           "the weights of a query do not sum to 1: softmax divides each by their sum");
  same("f", f, regression(queries));
  const Tensor more = numbers({7}, 5);
  same("f", answer(more, keys, values, w), regression(more), "with 7 queries and 4 keys");
  same("the gradient of w", grad(sum(answer(queries, keys, values, w) * g), {w})[0],
       grad(sum(regression(queries) * g), {w})[0]);
  right_because() = "this is attention, with a score that is a distance";
}

}  // namespace xgrad::exercises
