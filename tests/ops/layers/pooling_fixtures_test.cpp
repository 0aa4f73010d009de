#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

Size2d size_of(const Case& c, const std::string& option) {
  const std::vector<std::int64_t> sides = c.numbers(option);
  return {sides.at(0), sides.at(1)};
}

Results max_pool(const Case& c) {
  MaxPool2dOptions options{.ceil_mode = c.flag("ceil_mode")};
  if (c.has("stride")) options.stride = size_of(c, "stride");
  if (c.has("padding")) options.padding = size_of(c, "padding");
  if (c.has("dilation")) options.dilation = size_of(c, "dilation");
  return max_pool2d(c.x(), size_of(c, "kernel"), options);
}

Results avg_pool(const Case& c) {
  AvgPool2dOptions options{.ceil_mode = c.flag("ceil_mode"), .count_include_pad = c.flag("count_include_pad")};
  if (c.has("stride")) options.stride = size_of(c, "stride");
  if (c.has("padding")) options.padding = size_of(c, "padding");
  return avg_pool2d(c.x(), size_of(c, "kernel"), options);
}

template <class Options>
Options options_1d(const Case& c) {
  Options options{.ceil_mode = c.flag("ceil_mode")};
  if (c.has("stride")) options.stride = c.integer("stride");
  if (c.has("padding")) options.padding = c.integer("padding");
  return options;
}

Results resized(const Case& c) {
  InterpolateOptions options{
      .mode = c.text("mode") == "nearest" ? Interpolation::nearest : Interpolation::bilinear,
      .align_corners = c.flag("align_corners") ? AlignCorners::yes : AlignCorners::no,
      .antialias = c.flag("antialias"),
  };
  if (c.has("size")) options.size = size_of(c, "size");
  if (c.has("scale_factor")) options.scale_factor = Scale2d{c.reals("scale_factor")[0], c.reals("scale_factor")[1]};
  return interpolate(c.x(), options);
}

}  // namespace

TEST_CASE("pooling and interpolation, and the gradients, equal PyTorch's") {
  check_fixtures(
      "pooling",
      {
          {"max_pool2d", max_pool},
          {"avg_pool2d", avg_pool},
          {"max_pool1d",
           [](const Case& c) { return max_pool1d(c.x(), c.integer("kernel"), options_1d<MaxPool1dOptions>(c)); }},
          {"avg_pool1d",
           [](const Case& c) { return avg_pool1d(c.x(), c.integer("kernel"), options_1d<AvgPool1dOptions>(c)); }},
          {"adaptive_max_pool2d", [](const Case& c) { return adaptive_max_pool2d(c.x(), size_of(c, "size")); }},
          {"adaptive_avg_pool2d", [](const Case& c) { return adaptive_avg_pool2d(c.x(), size_of(c, "size")); }},
          {"adaptive_max_pool1d", [](const Case& c) { return adaptive_max_pool1d(c.x(), c.integer("size")); }},
          {"adaptive_avg_pool1d", [](const Case& c) { return adaptive_avg_pool1d(c.x(), c.integer("size")); }},
          {"interpolate", resized},
      },
      {.kinks = {"max_pool2d/6", "max_pool1d/0", "adaptive_max_pool2d/0"}});  // almost equal numbers in a window
}

}  // namespace xgrad::testing
