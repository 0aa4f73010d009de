// Distances of pairs, runs, splits: gradients against differences, edges, bad inputs.
// (PyTorch's numbers: operation_fixtures_test.cpp.)

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/extremes.h"

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
  CHECK(error_of<ValueError>([] { unravel_index(index({6}), {2, 3}); }) == "unravel_index: index 6 is not in [0, 6)");
}

TEST_CASE("splits refuse parts that are not there") {
  const Tensor x = zeros({4, 3});
  CHECK(error_of<ShapeError>([&] { split(x, {}); }) == "split: lengths [] do not make the size 4 of axis 0");
  CHECK(error_of<ShapeError>([&] { split(x, {2}); }) == "split: lengths [2] do not make the size 4 of axis 0");
  CHECK(split(x, {3}, 1).size() == 1);
  CHECK(tensor_split(x, {}).size() == 1);
  CHECK(tensor_split(x, {3})[1].shape() == Shape{1, 3});
  CHECK(hsplit(x, {1})[1].shape() == Shape{4, 2});
  CHECK(vsplit(x, {1})[1].shape() == Shape{3, 3});
  CHECK(dsplit(zeros({1, 1, 5}), {1})[1].shape() == Shape{1, 1, 4});
  CHECK(error_of<ValueError>([&] { tensor_split(x, 0); }) == "tensor_split: into 0 parts");
  CHECK(error_of<LimitError>([&] { tensor_split(x, std::int64_t{1} << 30); }) == "tensor_split: into 1073741824 parts");
  CHECK(error_of<ValueError>([&] { tensor_split(x, 2, 2); }) == "tensor_split: axis 2 is out of range for rank 2");
  CHECK(error_of<ShapeError>([&] { hsplit(x, 2); }) == "hsplit: axis 1 of [4, 3] cannot be divided into 2 equal parts");
  CHECK(error_of<ShapeError>([] { hsplit(Tensor(1), 2); }) == "hsplit: needs 2 axes, got []");
  CHECK(error_of<ShapeError>([] { vsplit(zeros({4}), 2); }) == "vsplit: needs 2 axes, got [4]");
  CHECK(error_of<ShapeError>([&] { dsplit(x, 1); }) == "dsplit: needs 3 axes, got [4, 3]");
}
