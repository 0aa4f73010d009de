// Moving, splitting and laying out: edges, bad input. (Values and gradients: arrange_fixtures_test.cpp.)
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/orders.h"

namespace xgrad::testing {
namespace {

TEST_CASE("what takes apart and what puts together takes shapes without elements") {
  CHECK(unbind(zeros({0, 2})).empty());
  CHECK(split(zeros({0, 2}), 3).size() == 1);
  CHECK(diagonal(ones({2, 3}), 3).shape() == Shape{0});
  CHECK(diagonal(ones({2, 3}), std::numeric_limits<std::int64_t>::min()).shape() == Shape{0});
  check_shapes("diagonal", {{0, 3}}, {0}, [](const Tensors& t) { return diagonal(t[0], 1); });
  check_shapes("diag_embed", {{2, 0}}, {2, 0, 0}, [](const Tensors& t) { return diag_embed(t[0]); });
  check_shapes("unbind", {{0, 1}}, {0}, [](const Tensors& t) { return unbind(t[0], 1)[0]; });
  check_shapes("meshgrid", {{0}, {2}}, {0, 2}, [](const Tensors& t) { return meshgrid(t)[0]; });
}

TEST_CASE("what cannot be arranged is refused") {
  const Tensor x = ones({2, 3});
  CHECK_REFUSED(ValueError, unbind(x, 2), "unbind", "axis 2", "rank 2");
  CHECK_REFUSED(ValueError, unbind(Tensor(1)), "unbind", "axis 0", "rank 0");
  CHECK_REFUSED(ValueError, split(x, 0), "split", "into parts of size 0");
  const Tensor parts = zeros({4, 3});
  CHECK_REFUSED(ShapeError, split(parts, {}), "split", "lengths []", "size 4", "axis 0");
  CHECK(split(parts, {3}, 1).size() == 1);
  CHECK_REFUSED(ValueError, movedim(x, 2, 0), "movedim", "axis 2", "rank 2");
  CHECK_REFUSED(ValueError, movedim(x, 0, -3), "movedim", "axis -3", "rank 2");
  CHECK_REFUSED(ValueError, movedim(x, {0, -2}, {0, 1}), "movedim", "repeated axis", "[0, -2]");
  CHECK_REFUSED(ValueError, movedim(x, {0, 1}, {1, 1}), "movedim", "repeated axis", "[1, 1]");
  CHECK_REFUSED(ValueError, movedim(x, {0, 1}, {1}), "movedim", "axes [0, 1]", "[1]");
  CHECK_REFUSED(ShapeError, unflatten(x, 1, {2, 2}), "unflatten");
  CHECK_REFUSED(ValueError, unflatten(x, 1, {-1, -1}), "unflatten");
  CHECK_REFUSED(ValueError, unflatten(x, 2, {3}), "unflatten", "axis 2", "rank 2");
  CHECK_REFUSED(ValueError, meshgrid({}), "meshgrid", "at least 1");
  CHECK_REFUSED(ShapeError, meshgrid({ones({2}), x}), "meshgrid", "list 1 has shape [2, 3]");
  CHECK_REFUSED(ShapeError, diagonal(ones({2})), "diagonal", "matrices (..., m, n)", "shape [2]");
  error_of<LimitError>([&] { diag_embed(x, std::numeric_limits<std::int64_t>::max()); });
  CHECK_REFUSED(ShapeError, diag(Tensor(1)), "diag", "a list or a matrix", "shape []");
}

}  // namespace
}  // namespace xgrad::testing
