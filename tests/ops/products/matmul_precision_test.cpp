// Tests of ops/products/matmul_precision.h in double, where precision changes nothing.

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("in double no precision of products changes them") {
  const Tensor a(normal({20, 30})), b(normal({30, 10}, 2));
  const Array exact = matmul(a, b).value();
  for (const MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium, MatmulPrecision::highest}) {
    set_matmul_precision(precision);
    CHECK(matmul_precision() == precision);
    CHECK(equal(matmul(a, b).value(), exact));
  }
}
