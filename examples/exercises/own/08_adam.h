// Your own engine, 8 of 12: Adam. docs/learn/own_engine.md
//
// m and v are running means of the gradient and of its square, one element for each element of a parameter. Both begin
// at 0, so they are too small at first. A step number t = 1, 2, ... is, for each element with the gradient g,
//
//     m <- 0.9 m + 0.1 g        v <- 0.999 v + 0.001 g^2
//     x <- x - lr (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-8)
//
// Write step: it changes the values of the parameters. m, v and t stay from step to step.
#pragma once
#include "07_cross_entropy.h"

struct Adam {
  Tensors parameters;
  double lr;
  int t = 0;
  std::vector<Matrix> m{}, v{};

  void step(const std::vector<Matrix>& gradients) {
    //< return;
    ++t;
    for (std::size_t n = 0; n < parameters.size(); ++n) {
      Matrix& x = parameters[n].value();
      if (t == 1) m.push_back(Matrix{x.rows, x.cols}), v.push_back(Matrix{x.rows, x.cols});
      for (std::size_t i = 0; i < x.v.size(); ++i) {
        const double g = gradients[n].v[i];
        m[n].v[i] = 0.9 * m[n].v[i] + 0.1 * g;
        v[n].v[i] = 0.999 * v[n].v[i] + 0.001 * g * g;
        const double mean = m[n].v[i] / (1 - std::pow(0.9, t)), square = v[n].v[i] / (1 - std::pow(0.999, t));
        x.v[i] -= lr * mean / (std::sqrt(square) + 1e-8);
      }
    }
    //>
  }
};
