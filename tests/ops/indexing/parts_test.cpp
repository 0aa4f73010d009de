// Tests of ops/indexing/parts.cpp: brackets that choose by number and by mask, and writing so into plain arrays.
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("a comma after a counter is that of the language, though one after a slice is refused") {
  const std::vector<int> numbers{1, 2, 3};
  auto number = numbers.begin();
  for (std::int64_t i = 0; i < 3; ++i, ++number) CHECK(*number == i + 1);
}

TEST_CASE("brackets choose rows by number, as numpy does") {
  const Index x = arange(6).reshaped({3, 2});
  CHECK(equal(x[index({2, 0, -1})], index({{4, 5}, {0, 1}, {4, 5}})));
  CHECK(equal(x[index({{0}, {1}})], index({{{0, 1}}, {{2, 3}}})));
  CHECK(equal(x[Index(Shape{}, 1)], index({2, 3})));
  CHECK(equal(x[Index(Shape{0})], Index(Shape{0, 2})));
  CHECK(equal(to_real(x)[index({1})].value(), Array(Shape{1, 2}, {2, 3})));
  const Tensor w = variable(to_real(x), "w");
  CHECK(equal(grad(sum(w[index({0, 0, -1})] * 2), {w})[0].value(), Array(Shape{3, 2}, {4, 4, 0, 0, 2, 2})));
  CHECK_REFUSED(ValueError, x[index({0, 3})], "index", "index 3", "[-3, 3)");
  CHECK_REFUSED(ValueError, x[index({-4})], "index", "index -4", "[-3, 3)");
  CHECK_REFUSED(ShapeError, Tensor(1)[index({0})], "index", "a scalar has no rows");
}

TEST_CASE("brackets take an index for each of the first axes, as numpy does, and gradients of equal places add up") {
  const Tensor x = variable(to_real(arange(24).reshaped({2, 3, 4})));
  const Index i = index({0, 1, -1}), j = index({2, 0, 0});
  CHECK(equal(x[{i, j}].value(), Array({3, 4}, {8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15})));
  CHECK(equal(x[{i, j, index({-1})}].value(), Array({3}, {11, 15, 15})));
  CHECK(equal(x[{index({{0}, {1}}), index({0, 2}), Index(Shape{}, 1)}].value(), Array({2, 2}, {1, 9, 13, 21})));
  CHECK(equal(x[{i}].value(), x[i].value()));
  CHECK(equal(x[{}].value(), x.value()));
  CHECK(x[{Index(Shape{0}), Index(Shape{0})}].shape() == Shape{0, 4});
  const Array g = grad(x[{i, j, index({1})}], {x}, {.seed = Array({3}, {1, 2, 4})})[0].value();
  CHECK(g.at({0, 2, 1}) == 1);
  CHECK(g.at({1, 0, 1}) == 6);
  CHECK(sum(Tensor(g)).item() == 7);
  CHECK_REFUSED(ValueError, (x[{i, index({0, 3, 0})}]), "index", "index 3", "[-3, 3)");
  CHECK_REFUSED(ShapeError, (x[{i, index({0, 1})}]), "index", "[3]", "[2]");
  CHECK_REFUSED(ValueError, (x[{i, i, i, i}]), "index", "4 indices", "[2, 3, 4]");
  CHECK_REFUSED(ValueError, (Tensor(1)[{i, i}]), "index", "2 indices", "[]");
}

TEST_CASE(
    "index_put writes what brackets read: by several indices, of which the last of equal ones wins, and to a part") {
  const Tensor x = variable(zeros({2, 3})), v = variable(tensor({1, 2, 4}));
  const Index i = index({0, -1, 1}), j = index({2, 0, 0});
  const auto gradients = [&](const Tensor& y) { return grad(y, {x, v}, {.seed = tensor({{1, 2, 3}, {4, 5, 6}})}); };
  const Tensor last = index_put(x, {i, j}, v), all = index_put(x, {i, j}, v, {.accumulate = true});
  const Tensors g_last = gradients(last), g_all = gradients(all);
  CHECK(equal(last.value(), Array({2, 3}, {0, 0, 1, 4, 0, 0})));
  CHECK(equal(all.value(), Array({2, 3}, {0, 0, 1, 6, 0, 0})));
  CHECK(equal(g_last[0].value(), Array({2, 3}, {1, 2, 0, 0, 5, 6})));
  CHECK(equal(g_last[1].value(), Array({3}, {3, 0, 4})));
  CHECK(equal(g_all[0].value(), Array({2, 3}, {1, 2, 3, 4, 5, 6})));
  CHECK(equal(g_all[1].value(), Array({3}, {3, 4, 4})));
  CHECK(equal(index_put(x, {index({1})}, v).value(), Array({2, 3}, {0, 0, 0, 1, 2, 4})));
  CHECK(equal(index_put(x, {i, j}, 7).value(), Array({2, 3}, {0, 0, 7, 7, 0, 0})));
  CHECK(equal(index_put(x, {}, v).value(), broadcast_to(v, {2, 3}).value()));

  // Numbers of numpy and PyTorch: x[..., 1:3] = y, x[:, ::-2] = y, x[1] = y, x[:, 1] = 5 in numpy.
  const Tensor y = tensor({{1, 2}, {3, 4}});
  CHECK(equal(index_put(x, {ellipsis, slice(1, 3)}, y).value(), Array({2, 3}, {0, 1, 2, 0, 3, 4})));
  CHECK(equal(index_put(x, {_, slice(none, none, -2)}, y).value(), Array({2, 3}, {2, 0, 1, 4, 0, 3})));
  CHECK(equal(index_put(x, {1}, v).value(), Array({2, 3}, {0, 0, 0, 1, 2, 4})));
  CHECK(equal(index_put(x, {_, 1}, 5).value(), Array({2, 3}, {0, 5, 0, 0, 5, 0})));
  CHECK(equal(index_put(x, {slice(0, 0)}, v).value(), x.value()));
  const Tensors g = gradients(index_put(x, {_}, v));
  CHECK(equal(g[0].value(), Array({2, 3}, Real(0))));
  CHECK(equal(g[1].value(), Array({3}, {5, 7, 9})));
  CHECK(equal(gradients(index_put(x, {1}, v))[0].value(), Array({2, 3}, {1, 2, 3, 0, 0, 0})));
  CHECK(equal(x.value(), Array({2, 3}, Real(0))));  // not written in place

  CHECK_REFUSED(ShapeError, index_put(x, {i, j}, tensor({1, 2})), "index_put", "values of shape [2]",
                "part of shape [3]");
  CHECK_REFUSED(ValueError, index_put(x, {i, index({3, 0, 0})}, v), "index_put", "index 3", "[-3, 3)");
  CHECK_REFUSED(ShapeError, index_put(x, {i, index({0, 0})}, v), "index_put", "[3]", "[2]");
  CHECK_REFUSED(ValueError, index_put(x, {i, i, i}, v), "index_put", "3 indices", "[2, 3]");
  CHECK_REFUSED(ShapeError, index_put(x, {_, 1}, v), "index_put", "values of shape [3]", "part of shape [2]");
  CHECK_REFUSED(ValueError, index_put(x, {2}, v), "index_put", "index 2", "axis 0");
}

TEST_CASE("brackets choose parts by mask, as numpy does") {
  const Index x = arange(6).reshaped({3, 2});
  CHECK(equal(x[x > 2], index({3, 4, 5})));
  CHECK(equal(x[Mask(Shape{3}, {true, false, true})], index({{0, 1}, {4, 5}})));
  CHECK(equal(x[x > 9], Index(Shape{0})));
  CHECK(equal(Index(Shape{}, 7)[Mask(Shape{}, true)], index({7})));
  const Tensor w = variable(to_real(x), "w");
  CHECK(equal(grad(sum(w[w > 2] * 3), {w})[0].value(), Array(Shape{3, 2}, {0, 0, 0, 3, 3, 3})));
  CHECK_REFUSED(ShapeError, x[Mask(Shape{2}, true)], "index", "mask of shape [2]", "axes of shape [3, 2]");
}

TEST_CASE("what is assigned to brackets is written into an array, and into no copy of it") {
  Index x = arange(6).reshaped({3, 2});
  const Index before = x;
  x[{0}] = 9;
  x[{_, 1}] = index({7, 8, 9});
  CHECK(equal(x, index({{9, 7}, {2, 8}, {4, 9}})));
  x[x == 9] = 0;
  CHECK(equal(x, index({{0, 7}, {2, 8}, {4, 0}})));
  x[index({0, -1})] = index({1, 2});
  CHECK(equal(x, index({{1, 2}, {2, 8}, {1, 2}})));
  x[{slice(none, none, 2)}] = x[{slice(1, 2)}];
  CHECK(equal(x, index({{2, 8}, {2, 8}, {2, 8}})));
  CHECK(equal(before, arange(6).reshaped({3, 2})));
  CHECK_REFUSED(ShapeError, x[{0}] = index({1, 2, 3}), "assign", "shape [3]", "part of shape [2]");
  CHECK_REFUSED(ShapeError, x[index({0})] = index({1, 2, 3}), "assign", "shape [3]", "part of shape [1, 2]");
  error_of<ValueError>([&] { x[{5}] = 1; });
  CHECK(equal(x, index({{2, 8}, {2, 8}, {2, 8}})));
  Array y(Shape{2}, Real(0));
  y[{-1}] = 2.5;
  Mask z(Shape{2}, false);
  z[index({1})] = true;
  CHECK(equal(y, Array(Shape{2}, {0, 2.5})));
  CHECK(equal(z, Mask(Shape{2}, {false, true})));
}
