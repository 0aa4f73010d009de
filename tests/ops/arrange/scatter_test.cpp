// Writing by number, by mask and by part, and reducing what meets: gradients against differences, edges, bad inputs.
// (PyTorch's numbers: operation_fixtures_test.cpp.)
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("what is written by number has the gradients of differences") {
  const Index rows = index({2, 0});
  check_gradients([&](const Tensors& x) { return index_copy(x[0], 0, rows, x[1]); },
                  {normal({3, 2}), normal({2, 2}, 2)});
  check_gradients([&](const Tensors& x) { return square(index_put(x[0], {rows}, x[1])); },
                  {normal({3, 2}), normal({2}, 2)});
  check_gradients(
      [&](const Tensors& x) {
        return square(index_put(x[0], {rows, index({1, -1})}, x[1], {.accumulate = true}));
      },
      {normal({3, 2, 2}), normal({2}, 2)});
  check_gradients(
      [](const Tensors& x) {
        return square(put(x[0], index({{5}, {0}}), x[1]));
      },
      {normal({3, 2}), normal({2, 1}, 2)});
  check_gradients([](const Tensors& x) { return square(masked_scatter(x[0], x[0].detach() > 0, x[1])); },
                  {normal({3, 2}), normal({8}, 2)});
  check_gradients(
      [](const Tensors& x) {
        return square(slice_scatter(x[0], {1, slice(0, 2)}, x[1]));
      },
      {normal({3, 3}), normal({2}, 2)});
  check_gradients([](const Tensors& x) { return square(select_scatter(x[0], x[1], 1, -1)); },
                  {normal({3, 3}), normal({3}, 2)});
}

TEST_CASE("numbers for one place are reduced with the gradients of differences, also where factors are 0") {
  const Index at = index({{0, 1}, {0, 0}, {2, 1}});
  for (const auto reduce :
       {ScatterReduce::sum, ScatterReduce::prod, ScatterReduce::mean, ScatterReduce::amax, ScatterReduce::amin}) {
    for (const bool own : {true, false}) {
      CAPTURE(static_cast<int>(reduce));
      CAPTURE(own);
      check_gradients(
          [&](const Tensors& x) { return scatter_reduce(x[0], 0, at, x[1], reduce, {.include_self = own}); },
          {normal({3, 2}), normal({3, 2}, 2)});
    }
  }
  check_gradients(
      [](const Tensors& x) {
        return scatter_reduce(x[0], 0, index({0, 0, 1, 1}), x[1], ScatterReduce::prod);
      },
      {Array({3}, {0, 2, 3}), Array({4}, {4, 0, 0, 5})});
  check_gradients(
      [](const Tensors& x) {
        return index_reduce(x[0], 1, index({1, 1, 0}), x[1], ScatterReduce::mean);
      },
      {normal({2, 2}), normal({2, 3}, 2)});
}

TEST_CASE("places below 0 count from the end") {
  const Tensor x = zeros({2, 3}), ones_to_three = tensor({1, 2, 3});
  CHECK(equal(put(x, index({-1, 0, -6}), ones_to_three).value(), Array({2, 3}, {3, 0, 0, 0, 0, 1})));
  CHECK(equal(put(x, index({-2, 4, -6}), ones_to_three, {.accumulate = true}).value(),
              Array({2, 3}, {3, 0, 0, 0, 3, 0})));
  check_gradients([](const Tensors& v) { return square(put(v[0], index({-1, 2}), v[1])); },
                  {normal({3, 2}), normal({2}, 2)});
}

TEST_CASE("of equal indices the last one is written, NaN stays, and places that nothing is written to keep theirs") {
  CHECK(equal(index_copy(zeros({3}), 0, index({1, 1}), tensor({4, 5})).value(), tensor({0, 5, 0}).value()));
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Tensor x = tensor({1, 2, 3});
  for (const bool own : {true, false}) {
    const Tensor y =
        scatter_reduce(x, 0, index({0, 0, 1}), tensor({nan, 7, 1}), ScatterReduce::amax, {.include_self = own});
    CHECK(y.value().data()[0] != y.value().data()[0]);
    CHECK(y.value().data()[1] == (own ? 2 : 1));
    CHECK(y.value().data()[2] == 3);
  }
  CHECK(masked_scatter(zeros({2, 0}), Mask(Shape{1, 1}, true), zeros({0})).shape() == Shape{2, 0});
  CHECK(scatter_reduce(zeros({0}), 0, Index(Shape{0}), zeros({0}), ScatterReduce::prod).size() == 0);
}

TEST_CASE("what does not fit is not written") {
  const Tensor x = zeros({3, 2}), row = zeros({2});
  CHECK(error_of<ValueError>([&] {
          index_copy(x, 0, index({3}), zeros({1, 2}));
        }) == "index_copy: index 3 is not in [-3, 3)");
  CHECK(error_of<ShapeError>([&] { index_copy(x, 0, index({1}), row); }) ==
        "index_copy: a source of shape [2] for 1 positions of axis 0 of [3, 2]");
  CHECK(error_of<ShapeError>([&] { index_copy(x, 0, index({{1}}), row); }) ==
        "index_copy: the index needs one axis, its shape is [1, 1]");
  CHECK(error_of<ValueError>([&] { index_put(x, {}, row); }) == "index_put: 0 indices for shape [3, 2]");
  CHECK(error_of<ValueError>([&] {
          index_put(x, {index({0}), index({-3})}, Tensor(1));
        }) == "index_put: index -3 is not in [-2, 2)");
  CHECK(error_of<ShapeError>([&] { index_put(x, {index({0})}, zeros({3})); }) ==
        "index_put: values of shape [3] for a part of shape [1, 2]");
  CHECK(error_of<ValueError>([&] { put(x, index({6}), zeros({1})); }) == "put: index 6 is not in [-6, 6)");
  CHECK(error_of<ValueError>([&] { put(x, index({-7}), zeros({1})); }) == "put: index -7 is not in [-6, 6)");
  CHECK(error_of<ShapeError>([&] { put(x, index({5}), row); }) == "put: index of shape [1] for a source of shape [2]");
  CHECK(error_of<ShapeError>([&] { masked_scatter(x, x == 0, zeros({5})); }) ==
        "masked_scatter: a source of 5 elements for 6 places");
  CHECK(error_of<ShapeError>([&] { masked_scatter(x, zeros({3}) == 0, zeros({6})); }) ==
        "masked_scatter: mask of shape [3] does not broadcast to [3, 2]");
  CHECK(error_of<ShapeError>([&] {
          scatter_reduce(x, 0, index({{0, 1}}), row, ScatterReduce::sum);
        }) == "scatter_reduce: index of shape [1, 2] for a source of shape [2]");
  CHECK(error_of<ValueError>([&] {
          scatter_reduce(x, 0, index({{0, 3}}), zeros({1, 2}), ScatterReduce::amax);
        }) == "scatter_reduce: index 3 is not in [-3, 3)");
  CHECK(error_of<ShapeError>([&] { index_reduce(x, 0, index({0}), row, ScatterReduce::mean); }) ==
        "index_reduce: a source of shape [2] for 1 positions of axis 0 of [3, 2]");
  CHECK(error_of<ShapeError>([&] { slice_scatter(x, {0}, zeros({3})); }) ==
        "slice_scatter: src [3] for a part of shape [2]");
  CHECK(error_of<ValueError>([&] { select_scatter(x, row, 0, 3); }) ==
        "select_scatter: index 3 out of range for axis 0 of size 3");
  CHECK(error_of<ShapeError>([&] { select_scatter(x, zeros({3}), 0, 1); }) ==
        "select_scatter: src [3] for a part of shape [2]");
}
