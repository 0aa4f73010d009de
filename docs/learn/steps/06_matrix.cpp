// Step 6: a matrix.
//
// The number becomes a matrix (tensor.h, operations.h), so a vertex now holds a table of numbers. The graph, the walk
// and grad do not change. The matrix product and broadcasting are new. Broadcasting repeats a row or a single number
// until it fits; its gradient is the sum of the gradients of the copies.
#include <cstdio>

#include "operations.h"

void print(const char* name, const Matrix& m) {
  std::printf("%s [%d, %d]", name, m.rows, m.cols);
  for (int i = 0; i < m.rows; ++i) {
    for (int j = 0; j < m.cols; ++j) std::printf(j == 0 ? "  |%5.1f" : " %5.1f", m.at(i, j));
  }
  std::printf("\n");
}

int main() {
  // Two rows at once: y = x w + b, where b has one row and is repeated.
  const Tensor x = Matrix{2, 3, {1, 2, 3, 4, 5, 6}};
  const Tensor w = variable({3, 2, {1, 0, 0, 1, -1, 1}}), b = variable({1, 2, {0.5, -0.5}});
  const Tensor y = matmul(x, w) + b;
  print("x     ", x.value());
  print("w     ", w.value());
  print("b     ", b.value());
  print("y     ", y.value());
  const Tensors gradients = grad(sum(y * y) / 2, {w, b});  // the gradient of y is y itself
  print("dL/dw ", gradients[0].value());
  print("dL/db ", gradients[1].value());

  const auto loss = [&] { return sum(tanh(0.1 * matmul(x, w) + b) * b); };
  const auto squares = [&] {  // gradients are tensors with a graph: the sum of their squares, differentiated once more
    const Tensors g = grad(loss(), {w, b});
    return sum(g[0] * g[0]) + sum(g[1] * g[1]);
  };
  const bool first = gradients_are_right(loss, {w, b}), second = gradients_are_right(squares, {w, b});
  std::printf("gradients equal finite differences: %s\n", first ? "yes" : "no");
  std::printf("so do second derivatives: %s\n", second ? "yes" : "no");

  // A line through six points: the slope and the height are single numbers, repeated for each point.
  const Tensor at = Matrix{6, 1, {0, 1, 2, 3, 4, 5}}, seen = Matrix{6, 1, {1.2, 2.7, 5.3, 6.9, 8.8, 11.3}};
  const Tensor slope = variable({1, 1, {0}}), height = variable({1, 1, {0}});
  for (int step = 0; step <= 300; ++step) {
    const Tensor error = slope * at + height - seen, mean = sum(error * error) / 6;
    if (step % 100 == 0)
      std::printf("step %3d  loss %6.3f  y = %.3f x + %.3f\n", step, mean.item(), slope.item(), height.item());
    const Tensors downhill = grad(mean, {slope, height});
    slope.value() = (slope - 0.05 * downhill[0]).value();
    height.value() = (height - 0.05 * downhill[1]).value();
  }
  return first && second && std::abs(2.5 * slope.item() + height.item() - 36.2 / 6) < 1e-3 ? 0 : 1;
}
