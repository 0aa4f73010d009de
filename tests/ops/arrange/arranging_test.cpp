// Shapes as PyTorch has them: moving, splitting and laying out; duals, edges, bad input.
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/orders.h"

namespace xgrad::testing {
namespace {

TEST_CASE("the gradients of arranging elements are those of differences") {
  const Array x = normal({2, 3, 4}, 2);
  const auto check = [&](const std::function<Tensor(const Tensor&)>& f) {
    check_gradients([&](const Tensors& t) { return f(t[0]); }, {x});
    check_gradients([&](const Tensors& t) { return f(square(t[0])); }, {x});
  };
  check([](const Tensor& t) { return unbind(t, 1)[2] * unbind(t, -2)[0]; });
  check([](const Tensor& t) { return split(t, 3, -1)[1]; });
  check([](const Tensor& t) { return movedim(t, 0, -1); });
  check([](const Tensor& t) { return unflatten(t, -1, {2, -1}); });
  check([](const Tensor& t) { return diagonal(t, -1); });
  check([](const Tensor& t) { return diag_embed(t, 2); });
  check([](const Tensor& t) { return diag(diag(t[{1}], 1), -1); });
  check_gradients([](const Tensors& t) { return meshgrid(t)[0] * meshgrid(t, {MeshIndexing::xy})[1]; },
                  {normal({3}), normal({3}, 2)});
}

TEST_CASE("what takes apart and what puts together undo each other") {
  const Tensor x = normal({2, 3, 4});
  for (const int axis : {0, 1, -1}) {
    check_close(stack(unbind(x, axis), axis).value(), x.value());
    check_close(concat(split(x, 2, axis), axis).value(), x.value());
    check_close(movedim(movedim(x, axis, 0), 0, axis).value(), x.value());
  }
  check_close(flatten(unflatten(x, 2, {2, 2}), 2, 3).value(), x.value());
  for (const std::int64_t offset : {-3, -1, 0, 2}) {
    check_close(diagonal(diag_embed(x, offset), offset).value(), x.value());
  }
  CHECK(unbind(zeros({0, 2})).empty());
  CHECK(split(zeros({0, 2}), 3).size() == 1);
  CHECK(diagonal(ones({2, 3}), 3).shape() == Shape{0});
  CHECK(diagonal(ones({2, 3}), std::numeric_limits<std::int64_t>::min()).shape() == Shape{0});
  check_shapes("diagonal", [](const Tensors& t) { return diagonal(t[0], 1); }, {{0, 3}}, {0});
  check_shapes("diag_embed", [](const Tensors& t) { return diag_embed(t[0]); }, {{2, 0}}, {2, 0, 0});
  check_shapes("unbind", [](const Tensors& t) { return unbind(t[0], 1)[0]; }, {{0, 1}}, {0});
  check_shapes("meshgrid", [](const Tensors& t) { return meshgrid(t)[0]; }, {{0}, {2}}, {0, 2});
}

TEST_CASE("what cannot be arranged is refused") {
  const Tensor x = ones({2, 3});
  CHECK(error_of<ValueError>([&] { unbind(x, 2); }) == "unbind: axis 2 is out of range for rank 2");
  CHECK(error_of<ValueError>([&] { unbind(Tensor(1)); }) == "unbind: axis 0 is out of range for rank 0");
  CHECK(error_of<ValueError>([&] { split(x, 0); }) == "split: into parts of size 0");
  CHECK(error_of<ValueError>([&] { movedim(x, 2, 0); }) == "movedim: axis 2 is out of range for rank 2");
  CHECK(error_of<ValueError>([&] { movedim(x, 0, -3); }) == "movedim: axis -3 is out of range for rank 2");
  CHECK(error_of<ValueError>([&] { movedim(x, {0, -2}, {0, 1}); }) == "movedim: repeated axis in [0, -2]");
  CHECK(error_of<ValueError>([&] { movedim(x, {0, 1}, {1, 1}); }) == "movedim: repeated axis in [1, 1]");
  CHECK(error_of<ValueError>([&] { movedim(x, {0, 1}, {1}); }) == "movedim: axes [0, 1] to [1]: the lists differ in length");
  CHECK(error_of<ShapeError>([&] { unflatten(x, 1, {2, 2}); }).starts_with("unflatten: "));
  CHECK(error_of<ValueError>([&] { unflatten(x, 1, {-1, -1}); }).starts_with("unflatten: "));
  CHECK(error_of<ValueError>([&] { unflatten(x, 2, {3}); }) == "unflatten: axis 2 is out of range for rank 2");
  CHECK(error_of<ValueError>([&] { meshgrid({}); }) == "meshgrid: needs at least 1 list");
  CHECK(error_of<ShapeError>([&] { meshgrid({ones({2}), x}); }) == "meshgrid: list 1 has shape [2, 3]");
  CHECK(error_of<ShapeError>([&] { diagonal(ones({2})); }) == "diagonal: needs matrices (..., m, n), got shape [2]");
  error_of<LimitError>([&] { diag_embed(x, std::numeric_limits<std::int64_t>::max()); });
  CHECK(error_of<ShapeError>([&] { diag(Tensor(1)); }) == "diag: needs a list or a matrix, got shape []");
}

}  // namespace
}  // namespace xgrad::testing
