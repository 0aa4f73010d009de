// Reducing the numbers that are written to one place: gradients against differences, edges, bad inputs.
// (PyTorch's numbers: operation_fixtures_test.cpp.)
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("products for one place have the gradients of differences where factors are 0") {
  check_gradients(
      [](const Tensors& x) {
        return scatter_reduce(x[0], 0, index({0, 0, 1, 1}), x[1], ScatterReduce::prod);
      },
      {Array({3}, {0, 2, 3}), Array({4}, {4, 0, 0, 5})});
}

TEST_CASE("NaN stays, and places that nothing is written to keep theirs") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Tensor x = tensor({1, 2, 3});
  for (const bool own : {true, false}) {
    const Tensor y =
        scatter_reduce(x, 0, index({0, 0, 1}), tensor({nan, 7, 1}), ScatterReduce::amax, {.include_self = own});
    CHECK(y.value().data()[0] != y.value().data()[0]);
    CHECK(y.value().data()[1] == (own ? 2 : 1));
    CHECK(y.value().data()[2] == 3);
  }
  CHECK(scatter_reduce(zeros({0}), 0, Index(Shape{0}), zeros({0}), ScatterReduce::prod).size() == 0);
}

TEST_CASE("what does not fit is not written") {
  const Tensor x = zeros({3, 2}), row = zeros({2});
  CHECK_REFUSED(ShapeError, scatter_reduce(x, 0, index({{0, 1}}), row, ScatterReduce::sum), "scatter_reduce",
                "index of shape [1, 2]", "source of shape [2]");
  CHECK_REFUSED(ValueError, scatter_reduce(x, 0, index({{0, 3}}), zeros({1, 2}), ScatterReduce::amax), "scatter_reduce",
                "index 3", "[-3, 3)");
}
