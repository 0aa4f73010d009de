#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

AxisSet over(const Case& c) { return c.has("axis") ? AxisSet(c.axes("axis")) : AxisSet(); }
VarOptions deviations(const Case& c) { return {.keepdim = c.flag("keepdim"), .correction = c.number("correction", 1)}; }
KeepdimOptions kept(const Case& c) { return {.keepdim = c.flag("keepdim")}; }

std::optional<int> along(const Case& c) { return c.has("axis") ? std::optional(c.integer("axis")) : std::nullopt; }

}  // namespace

TEST_CASE("statistics, what is carried along an axis, and reductions of scalars equal PyTorch's") {
  const auto reduction = [](Tensor (*f)(const Tensor&, const AxisSet&, const KeepdimOptions&)) {
    return [f](const Case& c) { return f(c.x(), over(c), kept(c)); };
  };
  const auto chosen = [](ValuesAndIndices (*f)(const Tensor&, int, const KeepdimOptions&)) {
    return [f](const Case& c) { return both(f(c.x(), c.integer("axis"), kept(c))); };
  };
  const auto carried = [](Tensor (*f)(const Tensor&, int)) {
    return [f](const Case& c) { return f(c.x(), c.integer("axis")); };
  };
  check_fixtures(
      "statistics",
      {
          {"stddev", OF_CASE(stddev(c.x(), over(c), deviations(c)))},
          {"var_mean", OF_CASE(both(var_mean(c.x(), over(c), deviations(c))))},
          {"sum", reduction(sum)},
          {"mean", reduction(mean)},
          {"prod", reduction(prod)},
          {"max", reduction(max)},
          {"logsumexp", reduction(logsumexp)},
          {"softmax", OF_CASE(softmax(c.x(), c.integer("axis")))},
          {"argmax", OF_CASE(argmax(c.x(), c.integer("axis"), kept(c)))},
          {"max_along", chosen(max)},
          {"min_along", chosen(min)},
          {"median", chosen(median)},
          {"median_all", OF_CASE(median(c.x()))},
          {"kthvalue", OF_CASE(both(kthvalue(c.x(), c.integer("k"), c.integer("axis"), kept(c))))},
          {"sort", OF_CASE(both(sort(c.x(), c.integer("axis"))))},
          {"topk", OF_CASE(both(topk(c.x(), c.integer("k"), c.integer("axis"))))},
          {"quantile", OF_CASE(quantile(c.x(), c.number("q"), along(c), kept(c)))},
          {"quantile_all", OF_CASE(quantile(c.x(), c.number("q")))},
          {"cumsum", carried(cumsum)},
          {"cumprod", carried(cumprod)},
          {"any", OF_CASE(any(c.mask(0), over(c), kept(c)))},
          {"all", OF_CASE(all(c.mask(0), over(c), kept(c)))},
      },
      {.terms = {{"stddev/14", 1}, {"stddev/15", 1}},           // of two numbers: no curvature
       .ulps_of = {{"stddev", 32}},                             // sums that cancel
       .kinks = {"mode/12", "max_along/12", "median_all/3"}});  // equal numbers
}

TEST_CASE("reductions and their gradients equal PyTorch's") {
  const auto over_axes = [](Tensor (*f)(const Tensor&, const AxisSet&, const KeepdimOptions&)) {
    return [f](const Case& c) { return f(c.x(), over(c), kept(c)); };
  };
  const auto position = [](Index (*f)(const Tensor&, int, const KeepdimOptions&)) {
    return [f](const Case& c) { return f(c.x(), c.integer("axis"), kept(c)); };
  };
  check_fixtures("reduce",
                 {
                     {"sum", over_axes(sum)},
                     {"mean", over_axes(mean)},
                     {"max", over_axes(max)},
                     {"min", over_axes(min)},
                     {"prod", over_axes(prod)},
                     {"logsumexp", over_axes(logsumexp)},
                     {"var", OF_CASE(var(c.x(), over(c), deviations(c)))},
                     {"cumsum", OF_CASE(cumsum(c.x(), c.integer("axis")))},
                     {"argmax", position(argmax)},
                     {"argmin", position(argmin)},
                 },
                 // Equal numbers; products below what differences resolve.
                 {.kinks = {"max/18", "min/18", "prod/14", "prod/16", "prod/17"}});
}

TEST_CASE("softmax, log_softmax, layer_norm and their gradients equal PyTorch's") {
  check_fixtures("normalize",
                 {
                     {"softmax", OF_CASE(softmax(c.x(), c.integer("axis")))},
                     {"log_softmax", OF_CASE(log_softmax(c.x(), c.integer("axis")))},
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
