// Tests of core/array/shape.h: sizes, axes and broadcasting.
#include <xgrad/core/array/shape.h>

#include <limits>
#include <optional>
#include <vector>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// All shapes of rank 0 ... 3 over these sizes.
std::vector<Shape> shapes_of(const std::vector<std::int64_t>& sizes) {
  std::vector<Shape> all{Shape{}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].rank() == 3) continue;
    for (const std::int64_t size : sizes) {
      Shape longer = all[i];
      longer.push_back(size);
      all.push_back(longer);
    }
  }
  return all;
}

// numpy's rule, written down a second time: pad with ones in front, then equal or 1 everywhere.
std::optional<Shape> broadcast_by_definition(Shape a, Shape b) {
  while (a.rank() < b.rank()) a.insert(0, 1);
  while (b.rank() < a.rank()) b.insert(0, 1);
  Shape result;
  for (int i = 0; i < a.rank(); ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return std::nullopt;
    result.push_back(a[i] == 1 ? b[i] : a[i]);
  }
  return result;
}

}  // namespace

TEST_CASE("the number of elements is the product of the sizes, and one that overflows is refused, also beside a 0") {
  constexpr std::int64_t huge = std::int64_t{1} << 32, most = std::numeric_limits<std::int64_t>::max();
  CHECK(Shape{}.numel() == 1);
  CHECK(Shape{7}.numel() == 7);
  CHECK(Shape{2, 3, 5}.numel() == 30);
  CHECK(Shape{2, 0, 5}.numel() == 0);
  CHECK(Shape{0, huge, 4}.numel() == 0);
  for (const Shape& shape : {Shape{huge, huge}, Shape{std::int64_t{1} << 62, 4}, Shape{most}, Shape{most, 0},
                             Shape{0, huge, huge}}) {
    CHECK_THROWS_AS((void)shape.numel(), LimitError);
  }
  CHECK_REFUSED(ValueError, (Shape{2, -3}.numel()), "shape", "negative size -3 in [2, -3]");
  CHECK_REFUSED(ValueError, (Shape{0, -3}.numel()), "shape", "negative size -3 in [0, -3]");
}

TEST_CASE("more than eight axes are refused") {
  CHECK(Shape({1, 1, 1, 1, 1, 1, 1, 2}).numel() == 2);
  CHECK_THROWS_AS((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), LimitError);
  Shape full = Shape::filled(8, 1);
  CHECK_THROWS_AS(full.insert(0, 2), LimitError);
  CHECK(full == Shape::filled(8, 1));
}

TEST_CASE("lists grow and shrink at any place") {
  Axes axes{1, 2, 4};
  axes.insert(2, 3);
  axes.insert(0, 0);
  axes.insert(5, 5);
  CHECK(axes == Axes{0, 1, 2, 3, 4, 5});
  axes.erase(0);
  axes.erase(4);
  CHECK(axes == Axes{1, 2, 3, 4});
  CHECK(axes.back() == 4);
  CHECK(str(axes) == "[1, 2, 3, 4]");
}

TEST_CASE("axes count from the end if negative, have to exist, are sorted and may not repeat") {
  const Shape shape{4, 5, 6};
  CHECK(shape.dim(0) == 4);
  CHECK(shape.dim(-1) == 6);
  CHECK_REFUSED(ValueError, shape.dim(3), "dim", "axis 3 is out of range for rank 3");
  CHECK_REFUSED(ValueError, shape.dim(-4), "dim", "axis -4 is out of range for rank 3");
  CHECK_REFUSED(ValueError, Shape{}.dim(0), "dim", "axis 0 is out of range for rank 0");
  CHECK(normalize_axes("sum", {-1, 0}, 3) == Axes{0, 2});
  CHECK(normalize_axes("sum", {}, 3) == Axes{});
  CHECK_REFUSED(ValueError, normalize_axes("sum", {1, -2}, 3), "sum", "repeated axis in [1, -2]");
  CHECK_REFUSED(ValueError, normalize_axes("sum", {5}, 3), "sum", "axis 5 is out of range for rank 3");
  CHECK(all_axes(3) == Axes{0, 1, 2});
}

TEST_CASE("broadcasting follows numpy's rule for every pair of shapes") {
  const std::vector<Shape> shapes = shapes_of({0, 1, 2, 3});
  int refused = 0;
  for (const Shape& a : shapes) {
    for (const Shape& b : shapes) {
      const std::optional<Shape> expected = broadcast_by_definition(a, b);
      if (!expected) {
        ++refused;
        CHECK_THROWS_AS(broadcast_shapes("op", a, b), ShapeError);
      } else {
        CHECK(broadcast_shapes("op", a, b) == *expected);
      }
      CHECK(broadcasts_to(a, b) == (expected && *expected == b));
    }
  }
  CHECK(refused > 1000);
  CHECK_REFUSED(ShapeError, broadcast_shapes("add", {2, 3}, {4, 3}), "add",
                "cannot broadcast [2, 3] with [4, 3] at axis -2");
}
