// Tests of ops/elementwise/integer.h: arithmetic on integers.

#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("integers are added, multiplied and summed, and no overflow is lost") {
  const Index x = index({{1, 2}, {3, 4}});
  CHECK(equal(x + index({10, 20}), index({{11, 22}, {13, 24}})));
  CHECK(equal(2 * x - 1, index({{1, 3}, {5, 7}})));
  CHECK(equal(x * x, index({{1, 4}, {9, 16}})));
  CHECK(equal(-x / 2, index({{0, -1}, {-1, -2}})));
  CHECK(equal(-x % 3, index({{-1, -2}, {0, -1}})));
  CHECK(equal(10 - x, index({{9, 8}, {7, 6}})));
  Index y = x;
  y += x;
  y -= 1;
  y *= 2;
  CHECK(equal(y, index({{2, 6}, {10, 14}})));
  CHECK(sum(x).item() == 10);
  CHECK(equal(sum(x, 0), index({4, 6})));
  CHECK(equal(sum(x, -1, {.keepdim = true}), index({{3}, {7}})));
  CHECK(equal(sum(x > 1, 1), index({1, 2})));
  CHECK(sum(Index(Shape{0, 3})).item() == 0);
  CHECK(equal(sum(Index(Shape{0, 3}), 0), index({0, 0, 0})));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  CHECK_REFUSED(LimitError, index({most}) + 1, "add", "9223372036854775807", "1");
  error_of<LimitError>([&] { index({least}) - 1; });
  error_of<LimitError>([&] { index({most}) * 2; });
  error_of<LimitError>([&] { index({least}) / -1; });
  error_of<LimitError>([&] { index({least}) % -1; });
  error_of<LimitError>([&] { -index({least}); });
  error_of<LimitError>([&] { sum(index({most, 1})); });
  CHECK_REFUSED(ValueError, index({1}) / 0, "div", "1 divided", "0");
  error_of<ShapeError>([&] { index({1, 2}) + index({1, 2, 3}); });
}

TEST_CASE("integers have a largest and a smallest") {
  const Index x = index({{3, -7, 3}, {5, 0, -7}});
  CHECK(max(x).item() == 5);
  CHECK(min(x).item() == -7);
  CHECK(equal(max(x, Axes{0}), index({5, 0, 3})));
  CHECK(equal(min(x, {0, 1}), Index(Shape{}, -7)));
  CHECK_REFUSED(ValueError, max(Index(Shape{0})), "max", "shape [0]", "axes [0]");
}

TEST_CASE("integers and booleans change their shapes, and numbers their type, there and back") {
  const Index x = arange(6);
  CHECK(equal(reshape(x, {2, -1}), index({{0, 1, 2}, {3, 4, 5}})));
  CHECK(unsqueeze(x, -1).shape() == Shape{6, 1});
  CHECK(flatten(reshape(x, {1, 2, 3}), 1).shape() == Shape{1, 6});
  CHECK(unsqueeze(x > 2, 0).shape() == Shape{1, 6});
  CHECK(equal(to_index(to_real(x)), x));
  CHECK(equal(to_index(tensor({-2, 4})), index({-2, 4})));
  CHECK_REFUSED(ValueError, to_index(tensor({1, 0.5})), "to_index", "0.5 is no integer");
  for (const Real bad :
       {Real(0x1p63), -std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::quiet_NaN()}) {
    error_of<ValueError>([&] { to_index(Tensor(bad)); });
  }
  CHECK(to_index(Tensor(Real(-0x1p63))).item() == std::numeric_limits<std::int64_t>::min());
}
