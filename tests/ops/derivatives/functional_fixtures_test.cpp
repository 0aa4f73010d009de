#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

// The functions of tests/fixtures/make_array_fixtures.py.
Tensor one(const Tensor& a, const Tensor& x) { return tanh(matmul(a, x)) * sum(x); }
Tensor several(const Tensor& a, const Tensor& x, const Tensor& y) { return outer(tanh(matmul(a, x)), exp(y)) * sum(y); }

Results flat(const std::vector<Tensors>& rows) {
  Tensors all;
  for (const Tensors& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}
Results both(const OutputAndProducts& found) {
  Tensors all{found.output};
  all.insert(all.end(), found.products.begin(), found.products.end());
  return all;
}

}  // namespace

TEST_CASE("derivatives of functions, and the gradients of them, equal PyTorch's") {
  const auto of_x = [](const Case& c) { return [a = c.x(0)](const Tensor& x) { return one(a, x); }; };
  const auto scalar = [](const Case& c) { return [a = c.x(0)](const Tensor& x) { return sum(square(one(a, x))); }; };
  const auto of_xy = [](const Case& c) { return [a = c.x(0)](const Tensors& in) { return several(a, in[0], in[1]); }; };
  const auto scalar_xy = [](const Case& c) {
    return [a = c.x(0)](const Tensors& in) { return sum(square(several(a, in[0], in[1]))); };
  };
  constexpr FunctionalOptions graph{.create_graph = true};
  check_fixtures("derivatives",
                 {
                     {"jacobian", OF_CASE(jacobian(of_x(c), c.x(1)))},
                     {"jacobians", OF_CASE(jacobian(of_xy(c), {c.x(1), c.x(2)}))},
                     {"hessian", OF_CASE(hessian(scalar(c), c.x(1)))},
                     {"hessians", OF_CASE(flat(hessian(scalar_xy(c), {c.x(1), c.x(2)})))},
                     {"vjp", OF_CASE(both(vjp(of_x(c), c.x(1), c.x(2))))},
                     {"vjps", OF_CASE(both(vjp(of_xy(c), {c.x(1), c.x(2)}, c.x(3))))},
                     {"jvp", OF_CASE(both(jvp(of_x(c), c.x(1), c.x(2))))},
                     {"jvps", OF_CASE(both(jvp(of_xy(c), {c.x(1), c.x(2)}, {c.x(3), c.x(4)})))},
                     {"hvp", OF_CASE(both(hvp(scalar(c), c.x(1), c.x(2))))},
                     {"hvps", OF_CASE(both(hvp(scalar_xy(c), {c.x(1), c.x(2)}, {c.x(3), c.x(4)})))},
                     {"graph_of_jacobian", OF_CASE(jacobian(of_x(c), c.x(1), graph))},
                     {"graph_of_hessian", OF_CASE(hessian(scalar(c), c.x(1), graph))},
                     {"graph_of_vjp", OF_CASE(vjp(of_x(c), c.x(1), c.x(2), graph).product)},
                     {"graph_of_jvp", OF_CASE(jvp(of_x(c), c.x(1), c.x(2), graph).product)},
                     {"graph_of_hvp", OF_CASE(hvp(scalar(c), c.x(1), c.x(2), graph).product)},
                 });
}

}  // namespace xgrad::testing
