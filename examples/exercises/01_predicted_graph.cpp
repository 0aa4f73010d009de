// Exercise 1: A graph, predicted before it is drawn. Lesson 1, docs/learn/start/01_number.md
//
// This program records a graph:
//
//     const Tensor w = variable(2, "w"), b = variable(1, "b");
//     const Tensor x = Tensor(3).named("x"), y = Tensor(5).named("y");
//     const Tensor h = tanh(w * x + b).named("h");
//     const Tensor loss = (square(h - y) + h * h).named("loss");
//
// Predict four numbers. The recorded graph is drawn (graph.svg, beside this file) when all of them are right.
//
//     operations   how many operations the graph has (leaves are none)
//     uses_of_h    how many arrows leave h; two arrows to one operation count as two
//     gradients    how many of the leaves w, b, x, y get a gradient from loss.backward()
//     paths        how many paths lead from w to loss along the arrows
#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

Prediction predicted_graph() {
  return {.operations = 0, .uses_of_h = 0, .gradients = 0, .paths = 0};  // your numbers
}
