// Tests of ops/kernels/products/gemm.h in float, where registers hold twice as many numbers.
#include <xgrad/core/base/text.h>

#include "support/check.h"
#include "support/products.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("products in float equal three loops in double to a few roundings, and write nothing else") {
  for (const ProductCase& test : product_cases()) {
    const std::string sizes =
        cat(test.p.m, " x ", test.p.k, " x ", test.p.n, ", transposed: ", test.a_transposed, test.b_transposed);
    CAPTURE(sizes);
    CHECK(run_product(test).error < 3e-6);
  }
}
