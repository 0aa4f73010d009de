#include <xgrad/ops/layers/layer_norm.h>
#include <xgrad/ops/layers/softmax.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {

TEST_CASE("softmax, log_softmax, layer_norm and their gradients equal PyTorch's") {
  check_fixtures("normalize", {
                                  {"softmax", [](const Case& c) { return softmax(c.x(), c.integer("axis")); }},
                                  {"log_softmax", [](const Case& c) { return log_softmax(c.x(), c.integer("axis")); }},
                                  {"layer_norm",
                                   [](const Case& c) {
                                     LayerNormFuncOptions options{.eps = c.number("eps")};
                                     if (c.has("shape")) options.normalized = c.shape("shape");
                                     return layer_norm(c.x(0), c.x(1), c.x(2), options);
                                   }},
                              },
                 {.terms = {{"layer_norm/12", 300},   // 1 / sqrt(eps), of rows of one number
                            {"softmax/0", 1}},        // less the mean of cotangents
                  .ulps_of = {{"layer_norm", 16}}});  // sums of a row cancel
}

}  // namespace xgrad::testing
