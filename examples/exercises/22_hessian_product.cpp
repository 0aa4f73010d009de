// Exercise 22: A Hessian times a vector. Step 4, docs/learn/steps/README.md
//
// The Hessian H of f at x has n^2 elements, H v only n. It takes two gradients and no table:
//
//     H v = d/dx (df/dx . v)        (H v)_i = sum_j d^2 f / (dx_i dx_j) v_j
//
//     f, a function: f(x) is []      x [n], a variable      v [n], a constant      ->      H v [n]
//
// Operations: grad(y, {x}) is a list with the gradient of y at x; grad(y, {x}, {.create_graph = true})[0] can be
// differentiated again; sum(x), *.
#include "exercises.h"

using namespace xgrad;
using namespace xgrad::exercises;

Tensor hessian_product(const Loss& f, const Tensor& x, const Tensor& v) {
  return {};  // your lines
}
