// Splits: bad inputs.
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("splits refuse parts that are not there") {
  const Tensor x = zeros({4, 3});
  CHECK(error_of<ShapeError>([&] { split(x, {}); }) == "split: lengths [] do not make the size 4 of axis 0");
  CHECK(error_of<ShapeError>([&] { split(x, {2}); }) == "split: lengths [2] do not make the size 4 of axis 0");
  CHECK(split(x, {3}, 1).size() == 1);
}
