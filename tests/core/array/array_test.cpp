// Tests of core/array/array.h: values that share their elements until one of them is written to.
#include <xgrad/core/array/array.h>

#include <cmath>
#include <limits>

#include <xgrad/ops/shape/broadcast.h>
#include <xgrad/ops/creation/create.h>

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
  static_assert(!std::is_convertible_v<Index, Array> && !std::is_convertible_v<Mask, Array>);
}

TEST_CASE("arrays without elements and without axes") {
  CHECK(Array().shape() == Shape{0});
  CHECK(Array(Shape{0, 3}).size() == 0);
  CHECK(Array(Shape{std::int64_t{1} << 50, 0}).size() == 0);
  CHECK(Array(Shape{}, Real(7)).item() == 7);
  CHECK(Array(Shape{1, 1}, Real(7)).item() == 7);
  CHECK(Array(Shape{}, Real(7)).at({}) == 7);
}

TEST_CASE("a wrong number of values, indices outside and sizes that overflow are refused") {
  const Array a(Shape{2, 1}, {1, 2});
  const auto before = pool_stats();
  CHECK_REFUSED(ShapeError, (void)Array(Shape{2, 2}, {1, 2, 3}), "array", "3 values for shape [2, 2]");
  CHECK_REFUSED(ValueError, a.at({0, 3}), "at", "index 3 out of range for axis of size 1");
  CHECK_REFUSED(ValueError, a.at({-3, 0}), "at", "index -3 out of range for axis of size 2");
  CHECK_REFUSED(ValueError, a.at({0}), "at", "1 indices for shape [2, 1]");
  CHECK_REFUSED(ShapeError, a.item(), "item", "needs exactly one element, shape is [2, 1]");
  CHECK_REFUSED(ShapeError, Array().item(), "item", "shape is [0]");
  CHECK_THROWS_AS((void)Array(Shape{std::int64_t{1} << 32, std::int64_t{1} << 32}), LimitError);
  CHECK_THROWS_AS((void)Array(Shape{std::int64_t{1} << 62, 4}, Real(1)), LimitError);
  CHECK_THROWS_AS((void)Array(Shape{-1}), ValueError);
  CHECK(pool_stats().bytes_in_use == before.bytes_in_use);
}

TEST_CASE("a copy shares the elements until one of both is written to, whatever their number") {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 8, 1000}) {
    Array a(Shape{size}, Real(1));
    Array b = a;
    CHECK(a.data() == b.data());
    CHECK_FALSE(a.unique());
    b.mutable_data()[size - 1] = 10;
    CHECK(a.data() != b.data());
    CHECK(a.at({size - 1}) == 1);
    CHECK(b.at({size - 1}) == 10);
    CHECK(a.unique());
    const Real* place = a.data();
    CHECK(a.mutable_data() == place);  // nobody else looks, so nothing moves
  }
  CHECK(reinterpret_cast<std::uintptr_t>(Array(Shape{1000}).data()) % 64 == 0);
}

TEST_CASE("a moved-from array has no elements") {
  Array a(Shape{2, 2}, Real(1));
  const Array b = std::move(a);
  CHECK(a.shape() == Shape{0});
  CHECK(a.size() == 0);
  CHECK(b.size() == 4);
  Array c(Shape{3}, Real(2));
  c = Array(b);
  CHECK(c.data() == b.data());
  Array& same = c;
  c = std::move(same);
  CHECK(c.shape() == Shape{2, 2});
}

TEST_CASE("a reshape shares the elements and never copies") {
  const Array a(Shape{2, 6}, Real(1));
  const Array b = a.reshaped({3, -1});
  CHECK(b.shape() == Shape{3, 4});
  CHECK(b.data() == a.data());
  CHECK(a.reshaped({2, 2, 3}).shape() == Shape{2, 2, 3});
  CHECK(Array(Shape{1}, Real(4)).reshaped({}).item() == 4);
  CHECK(Array(Shape{0, 3}).reshaped({5, 0}).shape() == Shape{5, 0});
  CHECK(Array(Shape{0, 3}).reshaped({3, -1}).shape() == Shape{3, 0});
  Array c = b;
  c.mutable_data()[0] = 5;
  CHECK(a.at({0, 0}) == 1);
}

TEST_CASE("a reshape that cannot be is refused, with both counts") {
  const Array a(Shape{2, 3}, Real(1)), none(Shape{0, 3});
  const char* six = "[2, 3] of 6 elements cannot become";
  CHECK_REFUSED(ShapeError, a.reshaped({4, -1}), "reshape", six, "[4, -1]: they are not divisible by 4");
  CHECK_REFUSED(ShapeError, a.reshaped({-1, 4}), "reshape", six, "[-1, 4]: they are not divisible by 4");
  CHECK_REFUSED(ShapeError, a.reshaped({5, 2}), "reshape", six, "[5, 2]");
  CHECK_REFUSED(ShapeError, none.reshaped({-1, 0}), "reshape", "-1 is ambiguous next to a size of 0 in [-1, 0]");
  CHECK_REFUSED(ShapeError, none.reshaped({-1, 3, 0}), "reshape", "[-1, 3, 0]");
  CHECK_REFUSED(ValueError, a.reshaped({-1, -1}), "reshape", "at most one -1 in [-1, -1]");
  CHECK_REFUSED(ValueError, a.reshaped({-2, 3}), "reshape", "negative size -2 in [-2, 3]");
  CHECK_THROWS_AS(a.reshaped({std::int64_t{1} << 62, 4}), LimitError);
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
  CHECK(to_string(Array(Shape{2, 2}, {1, 2.5, -3, 1e10})) == "[[ 1.0e+00,  2.5e+00],\n [-3.0e+00,  1.0e+10]]");
  CHECK(to_string(Array(Shape{2, 2}, {1, 2.5, -30, 0.125})) == "[[  1.000,   2.500],\n [-30.000,   0.125]]");
  CHECK(to_string(Array(Shape{3}, {1, 2, 300})) == "[  1,   2, 300]");
  CHECK(to_string(Array(Shape{3}, {Real(1) / 3, INFINITY, NAN})) == "[0.3333,    inf,    nan]");
  CHECK(to_string(Array(Shape{}, Real(0.5))) == "0.5");
  CHECK(to_string(Array(Shape{0})) == "[]");
  CHECK(to_string(Array(Shape{2, 0})) == "[[],\n []]");
  CHECK(to_string(Array(Shape{0, 2})) == "[]");
  CHECK(to_string(Index(Shape{2}, {7, -1})) == "[ 7, -1]");
  CHECK(to_string(Index(Shape{2, 1}, {7, -1})) == "[[ 7],\n [-1]]");
  CHECK(to_string(Mask(Shape{2}, {true, false})) == "[ true, false]");
  CHECK(to_string(Mask(Shape{2, 2}, {true, false, false, true})) == "[[ true, false],\n [false,  true]]");
  CHECK(to_string(Array(Shape{1001}, Real(0))) == "[0, 0, 0, ..., 0, 0, 0]");
}

TEST_CASE("long rows are broken, and large matrices shortened along both axes") {
  const std::string row = to_string(arange(40));
  CHECK(row.substr(0, 12) == "[ 0,  1,  2,");
  CHECK(row.find("\n ") != row.npos);
  for (std::size_t begin = 0, end; begin < row.size(); begin = end + 1) {
    end = std::min(row.find('\n', begin), row.size());
    CHECK(end - begin <= 80);
  }
  CHECK(to_string(arange(10000).reshaped({100, 100})) ==
        "[[   0,    1,    2, ...,   97,   98,   99],\n"
        " [ 100,  101,  102, ...,  197,  198,  199],\n"
        " [ 200,  201,  202, ...,  297,  298,  299],\n"
        " ...,\n"
        " [9700, 9701, 9702, ..., 9797, 9798, 9799],\n"
        " [9800, 9801, 9802, ..., 9897, 9898, 9899],\n"
        " [9900, 9901, 9902, ..., 9997, 9998, 9999]]");
}

TEST_CASE("an array that there is no memory for is refused with the name of who asked, and its shape") {
  const std::int64_t rows = std::int64_t{1} << 36, columns = std::int64_t{1} << 20;
  const char* refusal = "no memory for an array of shape [68719476736, 1048576]";
  const Tensor row = zeros({1, columns});
  CHECK(error_of<LimitError>([&] { broadcast_to(row, {rows, columns}); }).find(refusal) != std::string::npos);
  CHECK_REFUSED(LimitError, zeros({rows, columns}), "full", refusal);
  CHECK(error_of<LimitError>([&] { zeros({rows, columns}); }).ends_with(sizeof(Real) == 8 ? "(512 PiB)" : "(256 PiB)"));
}
