#include <xgrad/ops/arrange/index.h>
#include <xgrad/ops/arrange/search.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/reduce/count.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

template <class T>
Results all_of(const Unique<T>& found) {
  Results results(found.inverse);
  if constexpr (std::same_as<T, Real>) {
    results.all = {Tensor(found.values), found.inverse, found.counts};
  } else {
    results.all = {found.values, found.inverse, found.counts};
  }
  return results;
}

Results places(const Case& c) {
  const AnyArray& x = *c.stored("x", 0);
  if (const Array* reals = std::get_if<Array>(&x)) return nonzero(Tensor(*reals));
  if (const Mask* mask = std::get_if<Mask>(&x)) return nonzero(*mask);
  return nonzero(std::get<Index>(x));
}

}  // namespace

TEST_CASE("writing and counting, and the gradients, equal PyTorch's") {
  check_fixtures(
      "choosing",
      {
          {"scatter", [](const Case& c) { return scatter(c.x(0), c.integer("axis"), c.index(1), c.x(2)); }},
          {"scatter_value",
           [](const Case& c) { return scatter(c.x(0), c.integer("axis"), c.index(1), c.number("value")); }},
          {"index_add", [](const Case& c) { return index_add(c.x(0), c.integer("axis"), c.index(1), c.x(2)); }},
          {"repeat_interleave", [](const Case& c) { return repeat_interleave(c.x(0), c.index(1), c.integer("axis")); }},
          {"sorted_along", [](const Case& c) { return take_along_dim(c.x(0), c.index(1), c.integer("axis")); }},
          {"take_along_dim", [](const Case& c) { return take_along_dim(c.x(0), c.index(1)); }},
          {"unique", [](const Case& c) { return all_of(unique(c.x())); }},
          {"unique_index", [](const Case& c) { return all_of(unique(c.index(0))); }},
          {"bincount", [](const Case& c) { return bincount(c.index(0), {.minlength = c.integer("minlength")}); }},
          {"bincount_weights",
           [](const Case& c) { return bincount(c.index(0), c.x(1), {.minlength = c.integer("minlength")}); }},
          {"nonzero", places},
      });
}

}  // namespace xgrad::testing
