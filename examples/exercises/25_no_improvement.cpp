// Exercise 25: Find the bug: no improvement. When it does not work, docs/guide/debugging.md
//
// This program trains a small net on points x (N, 2) with the numbers y (N). After 300 steps its loss is still the
// variance of y, as if nothing were known of x. One line is wrong: find it and mend it. The checker trains.
#include "exercises.h"

using namespace xgrad;

double no_improvement(const Tensor& x, const Tensor& y) {
  const Tensor w1 = variable(random_normal({2, 16}, {.seed = 1}), "w1");
  const Tensor w2 = variable(Tensor(random_normal({16, 1}, {.seed = 2})) / 4, "w2");
  double last = 0;
  for (int step = 0; step < 300; ++step) {
    const Tensor prediction = matmul(tanh(matmul(x, w1)), w2);
    const Tensor loss = mean(square(prediction - y));
    const Tensors g = grad(loss, {w1, w2});
    w1.assign((w1 - 0.1 * g[0]).value());
    w2.assign((w2 - 0.1 * g[1]).value());
    last = loss.item();
  }
  return last;
}
