#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

template <class E>
E named(const Case& c, const char* option, std::initializer_list<std::pair<const char*, E>> values) {
  for (const auto& [name, value] : values) {
    if (c.text(option) == name) return value;
  }
  FAIL(c.line(), ": no ", option, " of that name");
  return values.begin()->second;
}

Real real(const Case& c, const char* option, double otherwise = 0) {
  return static_cast<Real>(c.number(option, otherwise));
}

Reduction reduction_of(const Case& c) {
  return named<Reduction>(c, "reduction",
                          {{"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}});
}

}  // namespace

TEST_CASE("shrinking functions and their gradients of two orders equal PyTorch's") {
  check_fixtures("special",
                 {{"hardshrink", [](const Case& c) { return hardshrink(c.x(), real(c, "width")); }},
                  {"softshrink", [](const Case& c) { return softshrink(c.x(), real(c, "width")); }}},
                 // An element where two pieces meet.
                 {.tolerance = 3e-12, .kinks = {"hardshrink/1", "hardshrink/10", "softshrink/10"}});
}

TEST_CASE("operations on pictures and their gradients of two orders equal PyTorch's") {
  check_fixtures(
      "pictures",
      {{"pad",
        [](const Case& c) {
          ShortList<Padding> paddings;
          const auto widths = c.numbers("pads");
          for (std::size_t i = 0; i < widths.size(); i += 2) paddings.push_back({widths[i], widths[i + 1]});
          return pad(
              c.x(), paddings,
              named<PadMode>(
                  c, "mode",
                  {{"reflect", PadMode::reflect}, {"replicate", PadMode::replicate}, {"circular", PadMode::circular}}));
        }},
       {"pixel_shuffle", [](const Case& c) { return pixel_shuffle(c.x(), c.integer("factor")); }},
       {"pixel_unshuffle", [](const Case& c) { return pixel_unshuffle(c.x(), c.integer("factor")); }},
       {"channel_shuffle", [](const Case& c) { return channel_shuffle(c.x(), c.integer("groups")); }},
       {"conv_transpose1d", [](const Case& c) {
          return conv_transpose1d(c.x(0), c.x(1), c.x(2),
                                  {.stride = c.integer("stride"),
                                   .padding = c.integer("padding"),
                                   .output_padding = c.integer("output_padding"),
                                   .dilation = c.integer("dilation"),
                                   .groups = c.integer("groups")});
        }}});
}

TEST_CASE("margins of several classes, divergences by batch, and their gradients of two orders equal PyTorch's") {
  check_fixtures(
      "margins",
      {{"multi_margin",
        [](const Case& c) {
          return multi_margin_loss(
              c.x(0), c.index(1),
              {.p = c.integer("p"), .margin = real(c, "margin"), .weight = c.x(2), .reduction = reduction_of(c)});
        }},
       {"multilabel_margin",
        [](const Case& c) { return multilabel_margin_loss(c.x(0), c.index(1), {.reduction = reduction_of(c)}); }},
       {"kl_div", [](const Case& c) {
          return kl_div(c.x(0), c.x(1), {.reduction = batchmean, .log_target = c.flag("log_target")});
        }}},
      // Targets near 0, a pole of the logarithm.
      {.kinks = {"kl_div/0", "kl_div/2", "kl_div/4", "kl_div/6", "kl_div/8"}});
}

}  // namespace xgrad::testing
