// Exercise 26: Find the bug: NaN. When it does not work, docs/guide/debugging.md
//
// This program learns to tell two classes of points apart: x (N, 2), y (N) is 0 or 1, p is the probability of 1. The
// points are easy to separate, and yet the loss becomes NaN. Mend one line, or two. A smaller learning rate only delays
// it.
#include "exercises.h"

using namespace xgrad;

double not_a_number(const Tensor& x, const Tensor& y) {
  const Tensor w = variable(zeros({2}), "w");
  double last = 0;
  for (int step = 0; step < 300; ++step) {
    const Tensor s = matmul(x, w), p = 1 / (1 + exp(-s));
    const Tensor loss = -mean(y * log(p) + (1 - y) * log(1 - p));
    w.assign((w - 0.5 * grad(loss, {w})[0]).value());
    last = loss.item();
  }
  return last;
}
