// Derivatives of functions, as in torch.autograd.functional: jacobian, hessian, and their products with vectors, which
// never compute the matrix.
//
//     const Tensor x = tensor({1, 2, 3});
//     const auto cubes = [](const Tensor& u) { return pow(u, 3); };
//     const Tensor J = jacobian(cubes, x);                            // (3, 3): 3 x_i^2 on the diagonal
//     const auto [y, Jv] = jvp(cubes, x, ones({3}));                  // y = x^3, J v = 3 x^2
//
// A function takes one tensor or several (Tensors) and returns one tensor. It is called once. Its arguments are new
// leaves with the values of the inputs. With create_graph they are the inputs themselves, so that the result can be
// differentiated with respect to the inputs. Recording is on during the call, even inside a NoGrad. f may use other
// tensors that require gradients; their gradients do not change.
//
// Derivatives are zeros if the result does not depend on an input. All functions throw ValueError for an empty function
// or the wrong number of vectors; GraphError for an undefined input or result; ShapeError for a vector whose shape does
// not fit the product; and anything that f throws.
#pragma once

#include <functional>
#include <vector>

#include "../../core/graph/tensor.h"

namespace xgrad {

struct FunctionalOptions {
  bool create_graph = false;  ///< the result can be differentiated with respect to the inputs
};

/// Functions of one tensor and of several.
using TensorFunction = std::function<Tensor(const Tensor&)>;
using TensorsFunction = std::function<Tensor(const Tensors&)>;

/// The Jacobian J[i, j] = dy_i/dx_j, of shape y.shape + x.shape, by one backward pass for each element of y. Throws
/// LimitError if this shape has more than max_rank axes.
Tensor jacobian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options = {});
/// The Jacobians with respect to each input.
[[nodiscard]] Tensors jacobian(const TensorsFunction& f, const Tensors& xs, const FunctionalOptions& options = {});

/// The Hessian H[i, j] = d^2 y / (dx_i dx_j), of shape x.shape + x.shape, where y = f(x) has one element. Takes one
/// backward pass through the gradient for each element of x. Throws ShapeError if y has more elements, LimitError as
/// jacobian.
Tensor hessian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options = {});
/// The Hessians H[a][b][i, j] = d^2 y / (dx_a,i dx_b,j), of shape xs[a].shape + xs[b].shape.
[[nodiscard]] std::vector<Tensors> hessian(const TensorsFunction& f, const Tensors& xs,
                                           const FunctionalOptions& options = {});

/// The value f(x), and a product with the derivatives of f.
struct [[nodiscard]] OutputAndProduct {
  Tensor output;
  Tensor product;
};
/// The value f(xs), and a product for each input.
struct [[nodiscard]] OutputAndProducts {
  Tensor output;
  Tensors products;
};

/// f(x) and the vector-Jacobian product v' J: p_j = sum_i v_i dy_i/dx_j, of x's shape, by one backward pass. v has the
/// shape of f(x). If f(x) has one element, v may be omitted and is 1.
OutputAndProduct vjp(const TensorFunction& f, const Tensor& x, const Tensor& v = {},
                     const FunctionalOptions& options = {});
OutputAndProducts vjp(const TensorsFunction& f, const Tensors& xs, const Tensor& v = {},
                      const FunctionalOptions& options = {});

/// f(x) and the Jacobian-vector product J v: p_i = sum_j dy_i/dx_j v_j, of y's shape. The double backward trick takes
/// two backward passes for any size: g(u) = u' J is linear in u, so the gradient of <g(u), v> with respect to u is J v.
/// v has the shape of x. If x has one element, v may be omitted and is 1.
OutputAndProduct jvp(const TensorFunction& f, const Tensor& x, const Tensor& v = {},
                     const FunctionalOptions& options = {});
/// f(xs) and p = sum_a J_a vs_a, the sum over all inputs.
OutputAndProduct jvp(const TensorsFunction& f, const Tensors& xs, const Tensors& vs = {},
                     const FunctionalOptions& options = {});

/// f(x) and the Hessian-vector product H v: p_i = sum_j d^2 y / (dx_i dx_j) v_j, of x's shape, where y = f(x) has one
/// element. It is the gradient of <dy/dx, v> (Pearlmutter: "Fast exact multiplication by the Hessian", 1994). v is as
/// for jvp. Throws ShapeError as hessian.
OutputAndProduct hvp(const TensorFunction& f, const Tensor& x, const Tensor& v = {},
                     const FunctionalOptions& options = {});
/// f(xs) and p_a = sum_b H[a][b] vs_b for each input.
OutputAndProducts hvp(const TensorsFunction& f, const Tensors& xs, const Tensors& vs = {},
                      const FunctionalOptions& options = {});

}  // namespace xgrad
