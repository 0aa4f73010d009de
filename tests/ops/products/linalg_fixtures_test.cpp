#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

Tensor symmetric(const Case& c) { return (c.x() + transpose(c.x())) / 2; }

}  // namespace

TEST_CASE("linear algebra and its gradients equal PyTorch's") {
  const Operations operations{
      {"solve", [](const Case& c) { return linalg::solve(c.x(0), c.x(1)); }},
      {"solve_triangular",
       [](const Case& c) { return linalg::solve_triangular(c.x(0), c.x(1), {.upper = c.flag("upper")}); }},
      {"inv", [](const Case& c) { return linalg::inv(c.x()); }},
      {"det", [](const Case& c) { return linalg::det(c.x()); }},
      {"slogdet",
       [](const Case& c) {
         const auto [sign, log] = linalg::slogdet(c.x());
         return Results(Tensors{sign, log});
       }},
      {"eigh",
       [](const Case& c) {
         const auto [values, vectors] = linalg::eigh(symmetric(c));
         return Results(Tensors{values, vectors});
       }},
      {"cholesky", [](const Case& c) { return linalg::cholesky(symmetric(c), {.upper = c.flag("upper")}); }},
      {"qr",
       [](const Case& c) {
         const auto [q, r] = linalg::qr(c.x());
         return Results(Tensors{q, r});
       }},
      {"svd",
       [](const Case& c) {
         const auto [u, s, vh] = linalg::svd(c.x());
         return Results(Tensors{u, s, vh});
       }},
      {"diagonal", [](const Case& c) { return linalg::diagonal(c.x()); }},
      {"diag_embed", [](const Case& c) { return linalg::diag_embed(c.x()); }},
      {"trace", [](const Case& c) { return linalg::trace(c.x()); }},
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
                                [](const Case& c) {
                                  return matmul(
                                      c.x(0), c.x(1),
                                      {.transpose_a = c.flag("transpose_a"), .transpose_b = c.flag("transpose_b")});
                                }},
                               {"linear", [](const Case& c) { return linear(c.x(0), c.x(1), c.x(2)); }},
                               {"dot", [](const Case& c) { return dot(c.x(0), c.x(1)); }},
                               {"outer", [](const Case& c) { return outer(c.x(0), c.x(1)); }},
                               {"tensordot",
                                [](const Case& c) {
                                  return c.has("count") ? tensordot(c.x(0), c.x(1), c.integer("count"))
                                                        : tensordot(c.x(0), c.x(1), c.axes("axes_a"), c.axes("axes_b"));
                                }},
                               {"einsum", [](const Case& c) { return einsum(c.text("formula"), c.xs()); }},
                           });
}

}  // namespace xgrad::testing
