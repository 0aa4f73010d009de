#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

Tensor symmetric(const Case& c) { return (c.x() + transpose(c.x())) / 2; }

}  // namespace

TEST_CASE("linear algebra and its gradients equal PyTorch's") {
  const Operations operations{
      {"solve", OF_CASE(linalg::solve(c.x(0), c.x(1)))},
      {"solve_triangular", OF_CASE(linalg::solve_triangular(c.x(0), c.x(1), {.upper = c.flag("upper")}))},
      {"inv", OF_CASE(linalg::inv(c.x()))},
      {"det", OF_CASE(linalg::det(c.x()))},
      {"slogdet", OF_CASE(both(linalg::slogdet(c.x())))},
      {"eigh", OF_CASE(both(linalg::eigh(symmetric(c))))},
      {"cholesky", OF_CASE(linalg::cholesky(symmetric(c), {.upper = c.flag("upper")}))},
      {"qr", OF_CASE(both(linalg::qr(c.x())))},
      {"svd",
       [](const Case& c) {
         const auto [u, s, vh] = linalg::svd(c.x());
         return Results(Tensors{u, s, vh});
       }},
      {"diagonal", OF_CASE(linalg::diagonal(c.x()))},
      {"diag_embed", OF_CASE(linalg::diag_embed(c.x()))},
      {"trace", OF_CASE(linalg::trace(c.x()))},
      {"vector_norm",
       [](const Case& c) {
         if (!c.has("axis")) return linalg::vector_norm(c.x(), c.number("ord"));
         return linalg::vector_norm(c.x(), c.number("ord"), c.axes("axis"), {.keepdim = true});
       }},
  };
  check_fixtures("linalg", operations,
                 {.tolerance = 1e-10,
                  .terms = {{"det/5", 6}},  // products of a singular matrix cancel
                  // Rounding is amplified by the condition of the matrices, and by how near eigenvalues are.
                  .ulps = 32,
                  .ulps_of = {{"slogdet", 64}, {"qr", 96}},
                  .kinks = {"det/5", "vector_norm/8"}});  // a singular matrix; an element near a pole
}

TEST_CASE("products and their gradients equal PyTorch's") {
  check_fixtures("matmul", {
                               {"matmul",
                                OF_CASE(matmul(c.x(0), c.x(1), {.transpose_a = c.flag("transpose_a"),
                                               .transpose_b = c.flag("transpose_b")}))},
                               {"linear", OF_CASE(linear(c.x(0), c.x(1), c.x(2)))},
                               {"dot", OF_CASE(dot(c.x(0), c.x(1)))},
                               {"outer", OF_CASE(outer(c.x(0), c.x(1)))},
                               {"tensordot",
                                OF_CASE(c.has("count") ? tensordot(c.x(0), c.x(1),
                                              c.integer("count")) : tensordot(c.x(0), c.x(1), c.axes("axes_a"),
                                              c.axes("axes_b")))},
                               {"einsum", OF_CASE(einsum(c.text("formula"), c.xs()))},
                           });
}

}  // namespace xgrad::testing
