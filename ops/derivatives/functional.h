// Derivatives of functions, as torch.autograd.functional has them: jacobian, hessian, and products with them that never
// make the matrix.
//
//     const Tensor x = tensor({1, 2, 3});
//     const auto cubes = [](const Tensor& u) { return pow(u, 3); };
//     const Tensor J = jacobian(cubes, x);                            // (3, 3): 3 x_i^2 on the diagonal
//     const auto [y, Jv] = jvp(cubes, x, ones({3}));                  // y = x^3, J v = 3 x^2
//
// A function takes one tensor and returns one. (Several tensors are parts of one that is their concatenation.) It is
// called once, with a leaf of its own that has the value of the input. With create_graph it is called with the input
// itself, so that the result can be differentiated with respect to it. Recording is on meanwhile, also inside a NoGrad.
// f may use other tensors that require gradients; nothing is added to theirs.
//
// Where the result does not depend on the input, derivatives are zeros. All throw ValueError for an empty function;
// GraphError for an undefined input or result; ShapeError for a vector that differs in shape from its other factor; and
// anything that f throws.
#pragma once

#include <functional>

#include "../../core/graph/tensor.h"

namespace xgrad {

struct FunctionalOptions {
  bool create_graph = false;  ///< the result can be differentiated with respect to the input
};

using TensorFunction = std::function<Tensor(const Tensor&)>;

/// J[i, j] = dy_i/dx_j, of shape y.shape + x.shape, by one backward pass for each element of y. Throws LimitError when
/// that has too many axes.
Tensor jacobian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options = {});

/// H[i, j] = d^2 y / (dx_i dx_j), of shape x.shape + x.shape, of an f with one element, by one backward pass through
/// the gradient for each element of x. Throws ShapeError for a result with more elements, LimitError as jacobian.
Tensor hessian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options = {});

/// f(x), and a product with its derivatives.
struct OutputAndProduct {
  Tensor output;
  Tensor product;
};

/// f(x) and v' J: p_j = sum_i v_i dy_i/dx_j, of x's shape, by one backward pass. v has the shape of f(x), and may be
/// left out where that has one element: then it is 1.
OutputAndProduct vjp(const TensorFunction& f, const Tensor& x, const Tensor& v = {},
                     const FunctionalOptions& options = {});

/// f(x) and J v: p_i = sum_j dy_i/dx_j v_j, of y's shape. By the double backward trick: g(u) = u' J is linear in u, so
/// the gradient of <g(u), v> with respect to u is J v, for two backward passes whatever the sizes are. v has the shape
/// of x, and may be left out where that has one element: then it is 1.
OutputAndProduct jvp(const TensorFunction& f, const Tensor& x, const Tensor& v = {},
                     const FunctionalOptions& options = {});

/// f(x) and H v: p_i = sum_j d^2 y / (dx_i dx_j) v_j, of x's shape, of an f with one element: the gradient of <dy/dx,
/// v> (Pearlmutter: "Fast exact multiplication by the Hessian", 1994). v as for jvp. Throws ShapeError as hessian.
OutputAndProduct hvp(const TensorFunction& f, const Tensor& x, const Tensor& v = {},
                     const FunctionalOptions& options = {});

}  // namespace xgrad
