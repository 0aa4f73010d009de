// Runs, membership, positions and splits: edges, bad inputs.
// (PyTorch's numbers: operation_fixtures_test.cpp.)

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("runs, membership and places of numbers") {
  const auto runs = unique_consecutive(tensor({not_a_number, not_a_number, 2, 2, 1}));
  CHECK(runs.values.size() == 4);  // NaN equals nothing
  CHECK(equal(runs.counts, index({1, 1, 2, 1})));
  CHECK(unique_consecutive(Index(Shape{0})).values.size() == 0);
  CHECK_FALSE(any(isin(tensor({not_a_number}), tensor({not_a_number}))));
  CHECK_FALSE(any(isin(index({1}), Index(Shape{0}))));
  const std::vector<Index> places = unravel_index(index({5}), {2, 3});
  CHECK(places.size() == 2);
  CHECK(places[0].item() == 1);
  CHECK(places[1].item() == 2);
  CHECK(unravel_index(Index(Shape{}, 0), {}).empty());
}

TEST_CASE("unravel_index refuses positions outside the shape") {
  CHECK_REFUSED(ValueError, unravel_index(index({6}), {2, 3}), "unravel_index", "index 6", "[0, 6)");
}

TEST_CASE("splits refuse parts that are not there") {
  const Tensor x = zeros({4, 3});
  CHECK_REFUSED(ShapeError, split(x, {}), "split", "lengths []", "size 4", "axis 0");
  CHECK_REFUSED(ShapeError, split(x, {2}), "split", "lengths [2]", "size 4", "axis 0");
  CHECK(split(x, {3}, 1).size() == 1);
}
