// Splits: bad inputs.
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("splits refuse parts that are not there") {
  const Tensor x = zeros({4, 3});
  CHECK_REFUSED(ShapeError, split(x, {}), "split", "lengths []", "size 4", "axis 0");
  CHECK_REFUSED(ShapeError, split(x, {2}), "split", "lengths [2]", "size 4", "axis 0");
  CHECK(split(x, {3}, 1).size() == 1);
}
