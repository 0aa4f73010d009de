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
Results both(const OutputAndProduct& found) { return Tensors{found.output, found.product}; }
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
                     {"jacobian", [&](const Case& c) { return jacobian(of_x(c), c.x(1)); }},
                     {"jacobians",
                      [&](const Case& c) {
                        return jacobian(of_xy(c), {c.x(1), c.x(2)});
                      }},
                     {"hessian", [&](const Case& c) { return hessian(scalar(c), c.x(1)); }},
                     {"hessians",
                      [&](const Case& c) {
                        return flat(hessian(scalar_xy(c), {c.x(1), c.x(2)}));
                      }},
                     {"vjp", [&](const Case& c) { return both(vjp(of_x(c), c.x(1), c.x(2))); }},
                     {"vjps",
                      [&](const Case& c) {
                        return both(vjp(of_xy(c), {c.x(1), c.x(2)}, c.x(3)));
                      }},
                     {"jvp", [&](const Case& c) { return both(jvp(of_x(c), c.x(1), c.x(2))); }},
                     {"jvps",
                      [&](const Case& c) {
                        return both(jvp(of_xy(c), {c.x(1), c.x(2)}, {c.x(3), c.x(4)}));
                      }},
                     {"hvp", [&](const Case& c) { return both(hvp(scalar(c), c.x(1), c.x(2))); }},
                     {"hvps",
                      [&](const Case& c) {
                        return both(hvp(scalar_xy(c), {c.x(1), c.x(2)}, {c.x(3), c.x(4)}));
                      }},
                     {"graph_of_jacobian", [&](const Case& c) { return jacobian(of_x(c), c.x(1), graph); }},
                     {"graph_of_hessian", [&](const Case& c) { return hessian(scalar(c), c.x(1), graph); }},
                     {"graph_of_vjp", [&](const Case& c) { return vjp(of_x(c), c.x(1), c.x(2), graph).product; }},
                     {"graph_of_jvp", [&](const Case& c) { return jvp(of_x(c), c.x(1), c.x(2), graph).product; }},
                     {"graph_of_hvp", [&](const Case& c) { return hvp(scalar(c), c.x(1), c.x(2), graph).product; }},
                 });
}

}  // namespace xgrad::testing
