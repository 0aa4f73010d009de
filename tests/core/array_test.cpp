// Tests of core/array.h: values that share their elements until one of them is written to.
#include <xgrad/core/array.h>

#include <limits>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("arrays hold their elements in row-major order") {
  const Array a(Shape{2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(a.rank() == 2);
  CHECK(a.size() == 6);
  CHECK(a.dim(-1) == 3);
  CHECK(a.at({1, 0}) == 4);
  CHECK(a.at({-1, -1}) == 6);
  CHECK(std::vector<Real>(a.begin(), a.end()) == std::vector<Real>{1, 2, 3, 4, 5, 6});
  CHECK(equal(Array(Shape{2}, Real(3)), Array(Shape{2}, {3, 3})));
  CHECK(equal(Array(Shape{2}, std::vector<Real>{1, 2}), Array(Shape{2}, {1, 2})));
}

TEST_CASE("arrays without elements and without axes") {
  CHECK(Array().shape() == Shape{0});
  CHECK(Array(Shape{0, 3}).size() == 0);
  CHECK(Array(Shape{std::numeric_limits<std::int64_t>::max(), 0}).size() == 0);
  CHECK(Array(Shape{}, Real(7)).item() == 7);
  CHECK(Array(Shape{1, 1}, Real(7)).item() == 7);
  CHECK(Array(Shape{}, Real(7)).at({}) == 7);
}

TEST_CASE("a wrong number of values, indices outside and sizes that overflow are refused") {
  CHECK(error_of<ShapeError>([] { Array(Shape{2, 2}, {1, 2, 3}); }) == "array: 3 values for shape [2, 2]");
  const Array a(Shape{2, 1}, {1, 2});
  CHECK(error_of<ValueError>([&] { (void)a.at({0, 3}); }) == "at: index 3 out of range for axis of size 1");
  error_of<ValueError>([&] { (void)a.at({-3, 0}); });
  CHECK(error_of<ValueError>([&] { (void)a.at({0}); }) == "at: 1 indices for shape [2, 1]");
  CHECK(error_of<ShapeError>([&] { (void)a.item(); }) == "item: needs exactly one element, shape is [2, 1]");
  error_of<ShapeError>([] { (void)Array().item(); });
  const auto before = pool_stats();
  error_of<LimitError>([] { Array(Shape{std::int64_t{1} << 32, std::int64_t{1} << 32}); });
  error_of<LimitError>([] { Array(Shape{std::int64_t{1} << 62, 4}, Real(1)); });
  error_of<ValueError>([] { Array(Shape{-1}); });
  CHECK(pool_stats().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("a copy shares the elements until one of both is written to") {
  Array a(Shape{3}, {1, 2, 3});
  Array b = a;
  CHECK(a.shares_memory_with(b));
  CHECK_FALSE(a.unique());
  b.mutable_data()[0] = 10;
  CHECK_FALSE(a.shares_memory_with(b));
  CHECK(a.at({0}) == 1);
  CHECK(b.at({0}) == 10);
  CHECK(a.unique());
  const Real* place = a.data();
  CHECK(a.mutable_data() == place);  // nobody else looks, so nothing moves
}

TEST_CASE("small and large blocks behave alike when copied and written to") {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 8, 1000}) {
    Array a(Shape{size}, Real(1));
    const Array b = a;
    a.mutable_data()[size - 1] = 2;
    CHECK(b.at({size - 1}) == 1);
    CHECK(a.at({size - 1}) == 2);
    CHECK(reinterpret_cast<std::uintptr_t>(Array(Shape{1000}).data()) % 64 == 0);
  }
}

TEST_CASE("a moved-from array has no elements") {
  Array a(Shape{2, 2}, Real(1));
  const Array b = std::move(a);
  CHECK(a.shape() == Shape{0});
  CHECK(a.size() == 0);
  CHECK(b.size() == 4);
  Array c(Shape{3}, Real(2));
  c = Array(b);
  CHECK(c.shares_memory_with(b));
  Array& same = c;
  c = std::move(same);
  CHECK(c.shape() == Shape{2, 2});
}

TEST_CASE("a reshape shares the elements and never copies") {
  const Array a(Shape{2, 6}, Real(1));
  const Array b = a.reshaped({3, -1});
  CHECK(b.shape() == Shape{3, 4});
  CHECK(b.shares_memory_with(a));
  CHECK(a.reshaped({2, 2, 3}).shape() == Shape{2, 2, 3});
  CHECK(Array(Shape{1}, Real(4)).reshaped({}).item() == 4);
  CHECK(Array(Shape{0, 3}).reshaped({5, 0}).shape() == Shape{5, 0});
  CHECK(Array(Shape{0, 3}).reshaped({3, -1}).shape() == Shape{3, 0});
  Array c = b;
  c.mutable_data()[0] = 5;
  CHECK(a.at({0, 0}) == 1);
}

TEST_CASE("a reshape that cannot be is refused, with both counts") {
  const Array a(Shape{2, 3}, Real(1));
  CHECK(error_of<ShapeError>([&] {
          a.reshaped({4, -1});
        }) == "reshape: 6 elements are not divisible by 4 to become [4, -1]");
  CHECK(error_of<ShapeError>([&] { a.reshaped({5, 2}); }) == "reshape: 6 elements cannot become [5, 2]");
  CHECK(error_of<ShapeError>([] {
          Array(Shape{0, 3}).reshaped({-1, 0});
        }) == "reshape: -1 is ambiguous next to a size of 0 in [-1, 0]");
  error_of<ShapeError>([] { Array(Shape{0, 3}).reshaped({-1, 3, 0}); });
  CHECK(error_of<ValueError>([&] { a.reshaped({-1, -1}); }) == "reshape: at most one -1 in [-1, -1]");
  CHECK(error_of<ValueError>([&] { a.reshaped({-2, 3}); }) == "reshape: negative size -2 in [-2, 3]");
  error_of<LimitError>([&] { a.reshaped({std::int64_t{1} << 62, 4}); });
}

TEST_CASE("whole numbers and truth values are types of their own") {
  const Index index(Shape{3}, {1, -2, std::int64_t{1} << 60});
  CHECK(index.at({2}) == std::int64_t{1} << 60);
  const Mask mask(Shape{2}, {true, false});
  CHECK(mask.at({0}));
  CHECK_FALSE(mask.at({1}));
  static_assert(!std::is_convertible_v<Index, Array> && !std::is_convertible_v<Mask, Array>);
}

TEST_CASE("equal compares shapes and elements, and NaN differs from itself") {
  const Array a(Shape{4}, {1, 2, 3, 4});
  CHECK(equal(a, Array(Shape{4}, {1, 2, 3, 4})));
  CHECK_FALSE(equal(a, a.reshaped({2, 2})));
  CHECK_FALSE(equal(a, Array(Shape{4}, {1, 2, 3, 5})));
  const Array nan(Shape{1}, std::numeric_limits<Real>::quiet_NaN());
  CHECK_FALSE(equal(nan, nan));
}

TEST_CASE("arrays print as numpy prints them, long ones shortened") {
  CHECK(to_string(Array(Shape{2, 2}, {1, 2.5, -3, 1e10})) == "[[1, 2.5],\n [-3, 1e+10]]");
  CHECK(to_string(Array(Shape{}, Real(0.5))) == "0.5");
  CHECK(to_string(Array(Shape{0})) == "[]");
  CHECK(to_string(Array(Shape{2, 0})) == "[[],\n []]");
  CHECK(to_string(Index(Shape{2}, {7, -1})) == "[7, -1]");
  CHECK(to_string(Mask(Shape{2}, {true, false})) == "[true, false]");
  CHECK(to_string(Array(Shape{1001}, Real(0))) == "[0, 0, 0, ..., 0, 0, 0]");
}
