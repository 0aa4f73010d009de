// Exercise 2: The gradients of a line, by hand. Lesson 2, docs/learn/start/02_line.md
//
// The loss of a line through n points is L = mean_i (w x_i + b - y_i)^2. Write both gradients as formulas of tensors,
// without grad() and backward():
//
//     dL/dw = (2/n) sum_i (w x_i + b - y_i) x_i        dL/db = (2/n) sum_i (w x_i + b - y_i)
//
//     w, b []      x, y [n]      ->      {dL/dw [], dL/db []}
//
// Operations: + - *, mean(x), sum(x), and numbers such as 2 * x.
#include "exercises.h"

using namespace xgrad;

Tensors line_gradients(const Tensor& w, const Tensor& b, const Tensor& x, const Tensor& y) {
  return {};  // your lines
}
