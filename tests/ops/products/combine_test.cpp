// Combinations, distances of pairs, runs and histograms: gradients against differences, edges, bad inputs.
// (PyTorch's numbers: operation_fixtures_test.cpp.)

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/extremes.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("combinations have the gradients of differences") {
  const auto two = [](Tensor (*f)(const Tensor&, const Tensor&)) -> Function {
    return [f](const Tensors& x) { return f(x[0], x[1]); };
  };
  check_gradients(two(kron), {normal({2, 2}), normal({3}, 2)});
  check_gradients([](const Tensors& x) { return cross(x[0], x[1], 1); }, {normal({2, 3, 1}), normal({3, 2}, 2)});
  check_gradients([](const Tensors& x) { return vander(x[0], {.n = 4}); }, {normal({3})});
  check_gradients([](const Tensors& x) { return square(cartesian_prod(x)); }, {normal({2}), normal({3}, 2)});
  check_gradients([](const Tensors& x) { return prod(combinations(x[0]), {.axis = 1}); }, {normal({4})});
  check_gradients([](const Tensors& x) { return pdist(x[0]); }, {normal({4, 3})});
  check_gradients([](const Tensors& x) { return renorm(x[0], {.axis = 1, .maxnorm = 0.5}); }, {normal({3, 2})});
  check_gradients(
      [](const Tensors& x) { return histogram(normal({6}), 3, {.weight = square(x[0]), .density = true}).hist; },
      {normal({6}, 2)});
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

TEST_CASE("combinations and searches refuse bad inputs") {
  const Tensor x = zeros({2, 3});
  CHECK(error_of<ShapeError>([&] {
          cross(x, zeros({2, 1}));
        }) == "cross: needs three numbers along axis 1, got [2, 3] and [2, 1]");
  CHECK(error_of<ValueError>([&] { cross(x, x, 2); }) == "cross: axis 2 is out of range for rank 2");
  CHECK(error_of<LimitError>([&] { kron(zeros({1, 1, 1, 1, 1}), x); }) == "shape: more than 8 axes");
  CHECK(error_of<ShapeError>([&] { vander(Tensor(1)); }) == "vander: needs an axis, got []");
  CHECK(error_of<ValueError>([&] { vander(x, {.n = -1}); }) == "vander: negative n -1");
  CHECK(error_of<ValueError>([] { cartesian_prod({}); }) == "cartesian_prod: needs at least 1 list");
  CHECK(error_of<ShapeError>([&] { cartesian_prod({x}); }) == "cartesian_prod: needs lists, got [2, 3]");
  CHECK(error_of<ShapeError>([&] { combinations(x); }) == "combinations: needs a list, got [2, 3]");
  CHECK(error_of<ValueError>([&] { combinations(zeros({3}), {.r = -1}); }) ==
        "combinations: r -1 is not in [0, 1048576]");
  CHECK(combinations(zeros({3}), {.r = 0}).shape() == Shape{0});
  CHECK(combinations(zeros({3}), {.r = 4}).shape() == Shape{0, 4});
  CHECK(combinations(zeros({0}), {.r = 2, .with_replacement = true}).shape() == Shape{0, 2});
  {
    const MemoryLimit limit;
    const std::int64_t n = 1000, chosen = n * (n - 1) / 2 * (n - 2) / 3 * (n - 3) / 4 * (n - 4) / 5;
    CHECK(error_of<LimitError>([&] { combinations(zeros({n}), {.r = 5}); }).find(cat(5 * chosen)) != std::string::npos);
    error_of<LimitError>([] { combinations(zeros({3}), {.r = 1 << 20, .with_replacement = true}); });
    CHECK(error_of<LimitError>([] { combinations(zeros({1000}), {.r = 500}); }).starts_with("combinations: the size "));
  }
  CHECK(error_of<ShapeError>([] { pdist(zeros({3})); }) == "pdist: needs rows (n, d), got [3]");
  CHECK(error_of<LimitError>([] {
          pdist(zeros({(std::int64_t{1} << 32) + 1, 0}));
        }) == "pdist: the size 4294967297 * 4294967296 overflows");
  CHECK(error_of<ValueError>([&] { pdist(x, {.p = -1}); }) == "pdist: p -1 is negative or NaN");
  CHECK(error_of<ValueError>([&] { renorm(x, {.p = 0}); }) == "renorm: p 0 is not positive");
  CHECK(error_of<ValueError>([&] { renorm(x, {.maxnorm = -1}); }) == "renorm: maxnorm -1 is negative or NaN");
  CHECK(error_of<ValueError>([] { unravel_index(index({6}), {2, 3}); }) == "unravel_index: index 6 is not in [0, 6)");
  CHECK(error_of<ValueError>([&] { histogram(x, 0); }) == "histogram: bins = 0");
  CHECK(error_of<ShapeError>([&] { histogram(x, tensor({1})); }) ==
        "histogram: needs a list of two edges or more, got [1]");
  CHECK(error_of<ValueError>([&] { histogram(x, tensor({1, 0})); }) == "histogram: edge 0 after 1");
  CHECK(error_of<ShapeError>([&] { histogram(x, 2, {.weight = zeros({3})}); }) ==
        "histogram: weights of shape [3] for elements of shape [2, 3]");
  CHECK(error_of<ValueError>([&] {
          histogram(x, tensor({1, 2}), {.density = true});
        }) == "histogram: no density for a total weight of 0");
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
