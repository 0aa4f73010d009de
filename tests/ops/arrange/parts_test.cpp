// Tests of ops/arrange/parts.cpp: brackets that choose by number and by mask, and writing so into plain arrays.
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

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
