// Products and operations along lines of an array, in float: registers and the sorting of keys with their places differ
// from double's.
#include "support/lines.h"
#include "support/products.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("running sums and products of any lines are those of plain loops, in float") { check_scans(); }
TEST_CASE("orders along any lines are those of a stable sort, in float") { check_orders(); }
TEST_CASE("distinct numbers are those of plain loops, in float") { check_distinct(); }

TEST_CASE("products in float equal three loops in double to a few roundings, and write nothing else") {
  for (const ProductCase& test : product_cases()) {
    CAPTURE(test.sizes());
    CHECK(run_product(test).error < 3e-6);
  }
}
