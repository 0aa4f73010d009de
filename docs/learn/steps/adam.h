// Adam, the optimizer of steps 8 to 10 (Kingma, Ba 2015).
#pragma once

#include "module.h"

// m and v are running means of the gradient and its square. Each element moves by about lr, whatever its gradient.
struct Adam {
  Tensors parameters;
  double lr, b1 = 0.9, b2 = 0.999, eps = 1e-8;
  int steps = 0;
  std::vector<Matrix> m{}, v{};

  void step(const Tensors& gradients) {
    ++steps;
    for (std::size_t n = 0; n < parameters.size(); ++n) {
      Matrix& x = parameters[n].value();
      const Matrix& g = gradients[n].value();
      if (steps == 1) m.push_back(zeros(x.rows, x.cols)), v.push_back(zeros(x.rows, x.cols));
      for (std::size_t i = 0; i < x.v.size(); ++i) {
        m[n].v[i] = b1 * m[n].v[i] + (1 - b1) * g.v[i];
        v[n].v[i] = b2 * v[n].v[i] + (1 - b2) * g.v[i] * g.v[i];
        const double mean = m[n].v[i] / (1 - std::pow(b1, steps)), square = v[n].v[i] / (1 - std::pow(b2, steps));
        x.v[i] -= lr * mean / (std::sqrt(square) + eps);
      }
    }
  }
};
