#include <xgrad/ops/ops.h>

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

Results max_pool(const Case& c) {
  MaxPool2dOptions options{.padding = extent_or(c, "padding", 0), .ceil_mode = c.flag("ceil_mode")};
  if (c.has("stride")) options.stride = extent(c, "stride");
  return max_pool2d(c.x(), extent(c, "kernel"), options);
}

Results avg_pool(const Case& c) {
  AvgPool2dOptions options{.padding = extent_or(c, "padding", 0),
                           .ceil_mode = c.flag("ceil_mode"),
                           .count_include_pad = c.flag("count_include_pad")};
  if (c.has("stride")) options.stride = extent(c, "stride");
  return avg_pool2d(c.x(), extent(c, "kernel"), options);
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
  if (c.has("size")) options.size = extent(c, "size");
  if (c.has("scale_factor")) options.scale_factor = Scale2d{c.reals("scale_factor")[0], c.reals("scale_factor")[1]};
  return interpolate(c.x(), options);
}

/// PyTorch's masks are true where a key takes part, and belong to scores (B, T, S) where there are no heads.
Mask ignored(const Case& c) {
  const Mask mask = !c.mask(3);
  const Shape& shape = mask.shape();
  return mask.rank() == 3 ? mask.reshaped({shape[0], 1, shape[1], shape[2]}) : mask;
}

}  // namespace

TEST_CASE("convolutions, their gradients and second gradients equal PyTorch's") {
  check_fixtures(
      "conv",
      {
          {"conv2d", conv2d_of},
          {"conv1d", conv1d_of},
          {"conv_transpose2d", conv_transpose2d_of},
          {"unfold", OF_CASE(unfold(c.x(), extent(c, "kernel"), unfold_options(c)))},
          {"fold", OF_CASE(fold(c.x(), extent(c, "size"), extent(c, "kernel"), unfold_options(c)))},
      });
}

TEST_CASE("pooling and interpolation, and the gradients, equal PyTorch's") {
  check_fixtures(
      "pooling",
      {
          {"max_pool2d", max_pool},
          {"avg_pool2d", avg_pool},
          {"max_pool1d", OF_CASE(max_pool1d(c.x(), c.integer("kernel"), options_1d<MaxPool1dOptions>(c)))},
          {"avg_pool1d", OF_CASE(avg_pool1d(c.x(), c.integer("kernel"), options_1d<AvgPool1dOptions>(c)))},
          {"adaptive_avg_pool2d", OF_CASE(adaptive_avg_pool2d(c.x(), extent(c, "size")))},
          {"adaptive_avg_pool1d", OF_CASE(adaptive_avg_pool1d(c.x(), c.integer("size")))},
          {"interpolate", resized},
      },
      {.kinks = {"max_pool2d/6", "max_pool1d/0"}});  // almost equal numbers in a window
}

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
                  {"multi_head_attention",
                   OF_CASE(multi_head_attention(c.x(0), c.x(1), c.x(2), c.integer("heads"),
                                                {.mask = {.causal = c.flag("causal")},
                                                .kv_heads = c.integer("kv_heads")}))}},
                 // Of rows of one number hardly any gradient is left; and the eps of /7 is that of the number type.
                 {.terms = {{"rms_norm/7", 1}, {"rms_norm/6", 1}},
                  .ulps_of = {{"rms_norm/7", 90000}},
                  .kinks = {"rms_norm/6"}});  // rows of one number, almost without a gradient
}

TEST_CASE("padding by own elements and its gradients of two orders equal PyTorch's") {
  check_fixtures("pictures",
                 {{"pad",
                   [](const Case& c) {
                     static const std::map<std::string, PadMode> modes{{"reflect", PadMode::reflect},
                                                                       {"replicate", PadMode::replicate},
                                                                       {"circular", PadMode::circular}};
                     ShortList<Padding> paddings;
                     const auto widths = c.numbers("pads");
                     for (std::size_t i = 0; i < widths.size(); i += 2) paddings.push_back({widths[i], widths[i + 1]});
                     return pad(c.x(), paddings, modes.at(c.text("mode")));
                   }}});
}

}  // namespace xgrad::testing
