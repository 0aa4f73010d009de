#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

// The functions of tests/fixtures/make_array_fixtures.py.
Tensor one(const Tensor& a, const Tensor& x) { return tanh(matmul(a, x)) * sum(x); }

Results both(const OutputAndProduct& found) { return Tensors{found.output, found.product}; }

}  // namespace

TEST_CASE("derivatives of functions, and the gradients of them, equal PyTorch's") {
  const auto of_x = [](const Case& c) { return [a = c.x(0)](const Tensor& x) { return one(a, x); }; };
  const auto scalar = [](const Case& c) { return [a = c.x(0)](const Tensor& x) { return sum(square(one(a, x))); }; };
  constexpr FunctionalOptions graph{.create_graph = true};
  check_fixtures("derivatives",
                 {
                     {"jacobian", [&](const Case& c) { return jacobian(of_x(c), c.x(1)); }},
                     {"hessian", [&](const Case& c) { return hessian(scalar(c), c.x(1)); }},
                     {"vjp", [&](const Case& c) { return both(vjp(of_x(c), c.x(1), c.x(2))); }},
                     {"jvp", [&](const Case& c) { return both(jvp(of_x(c), c.x(1), c.x(2))); }},
                     {"hvp", [&](const Case& c) { return both(hvp(scalar(c), c.x(1), c.x(2))); }},
                     {"graph_of_jacobian", [&](const Case& c) { return jacobian(of_x(c), c.x(1), graph); }},
                     {"graph_of_hessian", [&](const Case& c) { return hessian(scalar(c), c.x(1), graph); }},
                     {"graph_of_vjp", [&](const Case& c) { return vjp(of_x(c), c.x(1), c.x(2), graph).product; }},
                     {"graph_of_jvp", [&](const Case& c) { return jvp(of_x(c), c.x(1), c.x(2), graph).product; }},
                     {"graph_of_hvp", [&](const Case& c) { return hvp(scalar(c), c.x(1), c.x(2), graph).product; }},
                 });
}

}  // namespace xgrad::testing
