// Batch norm in float, where precision is short.
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("batch norm in float is right for channels far from 0") {
  check_close(batch_norm(Array({4, 1}, {80000, 80001, 80002, 80003})).y.value(),
              Array({4, 1}, {-1.3416353f, -0.4472118f, 0.4472118f, 1.3416353f}), 2e-6);
}
