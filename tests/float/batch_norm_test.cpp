// Batch norm in float, where precision is short and squares overflow.
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("batch norm in float is right for the channels that break others") {
  const Tensor far = variable(Array({3, 1}, {3e20f, -3e20f, 1}));
  const Tensor y = batch_norm(far).y;
  check_close(y.value(), Array({3, 1}, {std::sqrt(1.5f), -std::sqrt(1.5f), 0}), 1e-6);
  const Tensor g = grad(y, {far}, {.seed = normal({3, 1})})[0];
  for (const Real v : g.value()) CHECK(std::isfinite(v));
  check_close(batch_norm(Array({4, 1}, {80000, 80001, 80002, 80003})).y.value(),
              Array({4, 1}, {-1.3416353f, -0.4472118f, 0.4472118f, 1.3416353f}), 2e-6);
  const Tensor tiny = Array({2, 1}, {1e-30f, -1e-30f});
  check_close(batch_norm(tiny, {}, {}, {.eps = 0}).y.value(), Array({2, 1}, {1, -1}), 1e-6);
}
