// Distances of pairs, runs, splits: gradients against differences, edges, bad inputs.
// (PyTorch's numbers: operation_fixtures_test.cpp.)

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/extremes.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("distances have the gradients of differences") {
  check_gradients([](const Tensors& x) { return pdist(x[0]); }, {normal({4, 3})});
  check_gradients([](const Tensors& x) { return renorm(x[0], {.axis = 1, .maxnorm = 0.5}); }, {normal({3, 2})});
}

TEST_CASE("vectors that are short enough keep their length, others get it, and equal rows have no distance") {
  const Tensor x = tensor({{3, 4}, {0.3, 0.4}, {0, 0}});
  const Tensor lengths = linalg::vector_norm(renorm(x, {.maxnorm = 1}), {.axis = 1});
  check_close(lengths.value(), tensor({1, 0.5, 0}).value(), 1e-7);
  const Tensor same = variable({{1, 2}, {1, 2}});
  const Tensor distance = pdist(same);
  CHECK(distance.value().item() == 0);
  CHECK(equal(grad(sum(distance), {same})[0].value(), Array({2, 2}, Real(0))));
}

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

TEST_CASE("distances and searches refuse bad inputs") {
  const Tensor x = zeros({2, 3});
  CHECK(error_of<ShapeError>([] { pdist(zeros({3})); }) == "pdist: needs rows (n, d), got [3]");
  CHECK(error_of<LimitError>([] {
          pdist(zeros({(std::int64_t{1} << 32) + 1, 0}));
        }) == "pdist: the size 4294967297 * 4294967296 overflows");
  CHECK(error_of<ValueError>([&] { pdist(x, {.p = -1}); }) == "pdist: p -1 is negative or NaN");
  CHECK(error_of<ValueError>([&] { renorm(x, {.p = 0}); }) == "renorm: p 0 is not positive");
  CHECK(error_of<ValueError>([&] { renorm(x, {.maxnorm = -1}); }) == "renorm: maxnorm -1 is negative or NaN");
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
