// Exercise 27: Find the bug: memory that grows. When it does not work, docs/guide/debugging.md
//
// This loop trains, and returns a running mean of the loss to print. It is right, but after an hour the machine has no
// memory left. One line is wrong: find it and mend it.
#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

Tensor growing_memory(const Loss& f, const Tensor& w) {
  Tensor average = 0;
  for (int step = 0; step < 100; ++step) {
    const Tensor loss = f(w);
    w.assign((w - 0.01 * grad(loss, {w}, {.retain_graph = true})[0]).value());
    average = 0.9 * average + 0.1 * loss;
  }
  return average;
}
