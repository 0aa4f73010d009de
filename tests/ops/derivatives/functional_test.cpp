// Derivatives of functions: shapes, graphs, errors. (Values and gradients: functional_fixtures_test.cpp.)
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

TEST_CASE("derivatives of functions of any shape, of numbers and of nothing") {
  const Tensor x = normal({3}), a = normal({3, 3}, 2), v = normal({3}, 3);
  const TensorFunction linear_map = [&](const Tensor& u) { return matmul(u, transpose(a)); };
  check_close(jacobian(linear_map, x).value(), a.value());
  CHECK(jacobian(linear_map, normal({2, 3})).shape() == Shape{2, 3, 2, 3});
  // A number needs no vector.
  CHECK(jvp([](const Tensor& u) { return u * u; }, Tensor(3)).product.item() == 6);
  CHECK(vjp([](const Tensor& u) { return u * u; }, Tensor(3)).product.item() == 6);
  CHECK(hvp([](const Tensor& u) { return u * u * u; }, Tensor(3)).product.item() == 18);
  check_close(vjp([](const Tensors& in) { return sum(in[0] * in[1]); }, {x, v}).products[1].value(), x.value());
  CHECK(jacobian([](const Tensor& u) { return narrow(u, 0, 0, 0); }, x).shape() == Shape{0, 3});
  check_close(jacobian([](const Tensor& u) { return u; }, x).value(), eye(3).value());
}

TEST_CASE("what is returned has a graph if that is asked for, and inputs keep their gradients") {
  const Tensor x = variable(normal({3}));
  const TensorFunction f = [](const Tensor& u) { return sum(exp(u)); };
  CHECK(!jacobian(f, x).requires_grad());
  CHECK(!hessian(f, x).requires_grad());
  CHECK(!vjp(f, x).output.requires_grad());
  CHECK(!jvp(f, x, ones({3})).product.requires_grad());
  constexpr FunctionalOptions graph{.create_graph = true};
  const auto [h, hv] = [&] {
    const NoGrad off;  // changes nothing about it
    return std::pair(hessian(f, x, graph), hvp(f, x, ones({3}), graph).product);
  }();
  check_close(h.value(), diag(exp(x)).value(), 1e-14);
  check_close(grad(sum(h), {x})[0].value(), exp(x).value(), 1e-14);
  check_close(grad(sum(hv), {x})[0].value(), exp(x).value(), 1e-14);
  CHECK(!x.has_grad());
}

TEST_CASE("what a function does not depend on has zeros") {
  const Tensor x = normal({2}), y = normal({3}, 2);
  const TensorsFunction first = [](const Tensors& in) { return sum(square(in[0])); };
  const TensorFunction constant = [](const Tensor&) { return Tensor(3); };
  check_close(jacobian(first, {x, y})[1].value(), zeros({3}).value());
  check_close(hessian(first, {x, y})[1][0].value(), zeros({3, 2}).value());
  check_close(jacobian(constant, x).value(), zeros({2}).value());
  check_close(jvp(constant, x, x).product.value(), Tensor(0).value());
  check_close(hvp([](const Tensor& u) { return sum(u); }, x, x).product.value(), zeros({2}).value());
}

TEST_CASE("derivatives of functions refuse what does not fit") {
  const Tensor x = normal({3});
  const TensorFunction f = [](const Tensor& u) { return exp(u); };
  const TensorsFunction g = [](const Tensors& in) { return in[0]; };
  CHECK_REFUSED(ValueError, jacobian(TensorFunction(), x), "jacobian", "the function is empty");
  CHECK_REFUSED(ValueError, hessian(TensorsFunction(), {x}), "hessian", "the function is empty");
  CHECK_REFUSED(GraphError, vjp(f, Tensor(), x), "vjp", "input 0");
  CHECK_REFUSED(GraphError, jvp([](const Tensor&) { return Tensor(); }, x, x), "jvp", "undefined");
  CHECK_REFUSED(ShapeError, hessian(f, x), "hessian", "one element", "[3]");
  CHECK_REFUSED(ShapeError, hvp(f, x, x), "hvp", "one element", "[3]");
  CHECK_REFUSED(ShapeError, vjp(f, x, ones({2})), "vjp", "vector of shape [2]", "result of [3]");
  CHECK_REFUSED(ShapeError, vjp(f, x), "vjp", "a vector is needed", "result has shape [3]");
  CHECK_REFUSED(ShapeError, jvp(f, x, ones({3, 1})), "jvp", "vector of shape [3, 1]", "input 0 of [3]");
  CHECK_REFUSED(ShapeError, jvp(f, x), "jvp", "a vector is needed", "input 0 has shape [3]");
  CHECK_REFUSED(ValueError, jvp(g, {x, x}, {x}), "jvp", "1 vectors", "2 inputs");
  CHECK_REFUSED(LimitError, jacobian(f, ones({1, 1, 1, 1, 1})), "jacobian",
                "result of shape [1, 1, 1, 1, 1] + [1, 1, 1, 1, 1]", "8 axes");
}

}  // namespace
}  // namespace xgrad::testing
