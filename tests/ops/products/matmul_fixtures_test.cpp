#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {

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
