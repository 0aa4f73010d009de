#include <xgrad/nn/attention/masks.h>
#include <xgrad/ops/layers/attention.h>
#include <xgrad/ops/layers/layer_norm.h>
#include <xgrad/ops/layers/rotary.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {

TEST_CASE("rms_norm, rotary positions and grouped attention, and their gradients, equal PyTorch's") {
  check_fixtures("language_operations",
                 {{"rms_norm",
                   [](const Case& c) {
                     RmsNormFuncOptions options;
                     if (c.has("eps")) options.eps = c.number("eps");
                     if (c.has("shape")) options.normalized = c.shape("shape");
                     return rms_norm(c.x(0), c.x(1), options);
                   }},
                  {"rotary",
                   [](const Case& c) {
                     const bool halves = c.text("layout") == "halves";
                     return rotary(c.x(), {.heads = c.integer("heads"),
                                           .first = c.integer("first"),
                                           .layout = halves ? RotaryLayout::halves : RotaryLayout::interleaved,
                                           .theta = c.number("theta")});
                   }},
                  {"multi_head_attention", [](const Case& c) {
                     return multi_head_attention(
                         c.x(0), c.x(1), c.x(2), c.integer("heads"),
                         {.mask = {.causal = c.flag("causal")}, .kv_heads = c.integer("kv_heads")});
                   }}},
                 // Of rows of one number hardly any gradient is left; and the eps of /7 is that of the number type.
                 {.terms = {{"rms_norm/7", 1}, {"rms_norm/6", 1}}, .ulps_of = {{"rms_norm/7", 90000}},
                  .kinks = {"rms_norm/6"}});  // rows of one number, almost without a gradient
}

}  // namespace xgrad::testing
