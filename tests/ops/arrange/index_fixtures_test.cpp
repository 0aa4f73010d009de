#include <xgrad/ops/arrange/index.h>
#include <xgrad/ops/arrange/sort.h>
#include <xgrad/ops/reduce/reduce.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {

TEST_CASE("choosing and sorting elements, and the gradients, equal PyTorch's") {
  const auto both = [](const Sorted& sorted) { return Results(sorted.values, sorted.indices); };
  check_fixtures(
      "index",
      {
          {"embedding", [](const Case& c) { return embedding(c.x(0), c.index(1)); }},
          {"index_select", [](const Case& c) { return index_select(c.x(0), c.integer("axis"), c.index(1)); }},
          {"gather", [](const Case& c) { return gather(c.x(0), c.integer("axis"), c.index(1)); }},
          {"scatter_add", [](const Case& c) { return scatter_add(c.x(0), c.integer("axis"), c.index(1), c.x(2)); }},
          {"one_hot", [](const Case& c) { return Tensor(one_hot(c.index(0), c.integer("classes"))); }},
          {"masked_fill", [](const Case& c) { return masked_fill(c.x(0), c.mask(1), c.number("value")); }},
          {"masked_select", [](const Case& c) { return masked_select(c.x(0), c.mask(1)); }},
          {"topk",
           [&](const Case& c) {
             return both(topk(c.x(), c.integer("k"), {.axis = c.integer("axis"), .largest = c.flag("largest")}));
           }},
          {"sort",
           [&](const Case& c) {
             return both(sort(c.x(), {.axis = c.integer("axis"), .descending = c.flag("descending")}));
           }},
      },
      {.kinks = {"sort/5", "sort/6"}});  // equal numbers
}

}  // namespace xgrad::testing
