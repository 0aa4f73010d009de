#include <xgrad/ops/layers/conv.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

// One number for both axes, or one for each.
Size2d extent(const Case& c, const std::string& option) {
  const auto numbers = c.numbers(option);
  return {numbers.front(), numbers.back()};
}

Size2d extent_or(const Case& c, const std::string& option, std::int64_t otherwise) {
  return c.has(option) ? extent(c, option) : Size2d(otherwise);
}

bool same(const Case& c) { return c.has("padding") && c.text("padding") == "same"; }

Tensor conv2d_of(const Case& c) {
  const Size2d padding = same(c) ? Size2d(0) : extent_or(c, "padding", 0);
  return conv2d(c.x(0), c.x(1), c.x(2),
                {.stride = extent_or(c, "stride", 1),
                 .padding = same(c) ? Padding2d(same_padding) : Padding2d(padding.height, padding.width),
                 .dilation = extent_or(c, "dilation", 1),
                 .groups = extent_or(c, "groups", 1).height});
}

Tensor conv1d_of(const Case& c) {
  return conv1d(c.x(0), c.x(1), c.x(2),
                {.stride = extent_or(c, "stride", 1).height,
                 .padding = same(c) ? Padding1d(same_padding) : Padding1d(extent_or(c, "padding", 0).height),
                 .dilation = extent_or(c, "dilation", 1).height,
                 .groups = extent_or(c, "groups", 1).height});
}

Tensor conv_transpose2d_of(const Case& c) {
  return conv_transpose2d(c.x(0), c.x(1), c.x(2),
                          {.stride = extent(c, "stride"),
                           .padding = extent(c, "padding"),
                           .output_padding = extent(c, "output_padding"),
                           .dilation = extent(c, "dilation"),
                           .groups = c.integer("groups")});
}

UnfoldOptions unfold_options(const Case& c) {
  return {.dilation = extent_or(c, "dilation", 1),
          .padding = extent_or(c, "padding", 0),
          .stride = extent_or(c, "stride", 1)};
}

}  // namespace

TEST_CASE("convolutions, their gradients and second gradients equal PyTorch's") {
  check_fixtures(
      "conv",
      {
          {"conv2d", conv2d_of},
          {"conv1d", conv1d_of},
          {"conv_transpose2d", conv_transpose2d_of},
          {"unfold", [](const Case& c) { return unfold(c.x(), extent(c, "kernel"), unfold_options(c)); }},
          {"fold",
           [](const Case& c) { return fold(c.x(), extent(c, "size"), extent(c, "kernel"), unfold_options(c)); }},
      });
}

}  // namespace xgrad::testing
