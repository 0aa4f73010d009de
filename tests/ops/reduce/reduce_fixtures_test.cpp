#include <xgrad/ops/reduce/reduce.h>
#include <xgrad/ops/reduce/scan.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

AxisSet axes_of(const Case& c) { return c.has("axis") ? AxisSet(c.axes("axis")) : AxisSet(); }

}  // namespace

TEST_CASE("reductions and their gradients equal PyTorch's") {
  const auto over_axes = [](Tensor (*f)(const Tensor&, const AxisSet&, const KeepdimOptions&)) {
    return [f](const Case& c) { return f(c.x(), axes_of(c), {.keepdim = c.flag("keepdim")}); };
  };
  const auto position = [](Index (*f)(const Tensor&, int, const KeepdimOptions&)) {
    return [f](const Case& c) { return f(c.x(), c.integer("axis"), {.keepdim = c.flag("keepdim")}); };
  };
  check_fixtures("reduce", {
                               {"sum", over_axes(sum)},
                               {"mean", over_axes(mean)},
                               {"max", over_axes(max)},
                               {"min", over_axes(min)},
                               {"prod", over_axes(prod)},
                               {"logsumexp", over_axes(logsumexp)},
                               {"var",
                                [](const Case& c) {
                                  return var(c.x(), axes_of(c),
                                             {.keepdim = c.flag("keepdim"), .correction = c.number("correction", 1)});
                                }},
                               {"cumsum", [](const Case& c) { return cumsum(c.x(), c.integer("axis")); }},
                               {"argmax", position(argmax)},
                               {"argmin", position(argmin)},
                           },
                 // Equal numbers; products below what differences resolve.
                 {.kinks = {"max/18", "min/18", "prod/14", "prod/16", "prod/17"}});
}

}  // namespace xgrad::testing
