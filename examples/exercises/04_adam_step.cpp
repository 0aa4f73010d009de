// Exercise 4: A step of Adam. Lesson 3, docs/learn/start/03_layer.md
//
// moments.mean is m, the running mean of the gradient, moments.square is v, that of its square, and moments.steps is t,
// the number of steps so far. Before the first step m and v are undefined and mean zeros: moments.mean.defined() is
// false. A step with the gradient g is
//
//     t <- t + 1      m <- 0.9 m + 0.1 g      v <- 0.999 v + 0.001 g^2
//     w - lr (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-8)
//
// Change `moments`, and return the new w.
//
//     w, g, moments.mean, moments.square      all of one shape
//
// Operations: + - * /, square(x), sqrt(x), zeros_like(x); std::pow(0.9, t) for a number.
#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

Tensor adam_step(const Tensor& w, const Tensor& g, Moments& moments, double lr) {
  return {};  // your lines
}
