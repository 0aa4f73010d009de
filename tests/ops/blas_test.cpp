// Tests of ops/blas.h: products of all shapes against three loops.
#include <xgrad/ops/blas.h>

#include <xgrad/core/text.h>

#include "support/check.h"
#include "support/products.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("products of all sizes and transpositions equal three loops and write nothing else") {
  for (const ProductCase& test : product_cases()) {
    const std::string sizes =
        cat(test.p.m, " x ", test.p.k, " x ", test.p.n, ", transposed: ", test.a_transposed, test.b_transposed);
    CAPTURE(sizes);
    CHECK(run_product(test).error < 1e-14);
  }
}

TEST_CASE("a product has the same bits for any number of threads") {
  for (const std::int64_t m : {65, 150, 1}) {
    const ProductCase test{.p = {.m = m, .n = 2000 / m * 10, .k = 1300}, .with_bias = true};
    const ThreadCount one(1);
    const ProductResult alone = run_product(test);
    for (const int count : {2, 3, 7}) {
      const ThreadCount several(count);
      CHECK(run_product(test).c == alone.c);
    }
  }
}
