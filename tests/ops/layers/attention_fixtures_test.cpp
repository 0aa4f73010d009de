#include <xgrad/ops/elementwise/compare.h>
#include <xgrad/ops/layers/attention.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

/// PyTorch's masks are true where a key takes part, and belong to scores (B, T, S) where there are no heads.
Mask ignored(const Case& c) {
  const Mask mask = !c.mask(3);
  const Shape& shape = mask.shape();
  return mask.rank() == 3 ? mask.reshaped({shape[0], 1, shape[1], shape[2]}) : mask;
}

}  // namespace

TEST_CASE("scaled dot-product attention and its gradients equal PyTorch's") {
  const auto attention = [](const Case& c) {
    AttentionOptions options{.mask = {.causal = c.flag("causal")}};
    if (c.has("scale")) options.scale = c.number("scale");
    if (c.has("mask") && c.text("mask") == "keep") options.mask.masked = ignored(c);
    if (c.has("mask") && c.text("mask") == "add") options.mask.bias = c.x(3);
    return scaled_dot_product_attention(c.x(0), c.x(1), c.x(2), options);
  };
  check_fixtures("attention", {{"attention", attention}});
}

}  // namespace xgrad::testing
