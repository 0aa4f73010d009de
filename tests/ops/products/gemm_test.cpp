// Tests of ops/kernels/products/product.h: products of all shapes against three loops.
#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/kernels/products/product.h>
#include <xgrad/ops/products/linalg.h>

#include <cstdlib>
#include <string>

#include <xgrad/core/base/error.h>

#include "support/again.h"
#include "support/check.h"
#include "support/products.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("products of all sizes and transpositions equal three loops and write nothing else") {
  for (const ProductCase& test : product_cases()) {
    CAPTURE(test.sizes());
    CHECK(run_product(test).error < 1e-14);
  }
}

TEST_CASE("a product has the same bits for any number of threads") {
  for (const std::int64_t m : {65, 150, 1}) {
    check_threads({.p = {.m = m, .n = 2000 / m * 10, .k = 1300}, .with_bias = true});
  }
  for (const bool transposed : {false, true}) {  // few rows and columns, however the longer factor lies in memory
    check_threads({.p = {.m = 3, .n = 700, .k = 600}, .b_transposed = transposed, .with_bias = true});
    check_threads({.p = {.m = 700, .n = 3, .k = 600, .keep = 1}, .a_transposed = transposed, .with_bias = true});
  }
}

#ifdef XGRAD_OPENBLAS
extern "C" int openblas_get_num_threads();

TEST_CASE("OpenBLAS gets one thread") {
  if (std::getenv("XGRAD_TEST_AGAIN")) {
    CHECK(linalg::inv(eye(3)).shape() == Shape{3, 3});
    CHECK(openblas_get_num_threads() == 1);
    return;
  }
  const Again again = run_again("OpenBLAS gets one thread", "OPENBLAS_NUM_THREADS=2 XGRAD_TEST_AGAIN=1");
  CAPTURE(again.output);
  CHECK(again.status == 0);
}
#endif
