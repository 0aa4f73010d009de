// Tests of ops/arrange/integer.h: arithmetic on whole numbers.
#include <xgrad/ops/arrange/integer.h>

#include <limits>

#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/elementwise/compare.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("whole numbers are added, multiplied and summed, and no overflow is lost") {
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
  CHECK(equal(sum(x, {.axis = 0}), index({4, 6})));
  CHECK(equal(sum(x, {.axis = -1, .keepdim = true}), index({{3}, {7}})));
  CHECK(equal(sum(x > 1, {.axis = 1}), index({1, 2})));
  CHECK(sum(Index(Shape{0, 3})).item() == 0);
  CHECK(equal(sum(Index(Shape{0, 3}), {.axis = 0}), index({0, 0, 0})));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  CHECK(error_of<LimitError>([&] { index({most}) + 1; }) ==
        "add: the result for 9223372036854775807 and 1 does not fit 64 bits");
  error_of<LimitError>([&] { index({least}) - 1; });
  error_of<LimitError>([&] { index({most}) * 2; });
  error_of<LimitError>([&] { index({least}) / -1; });
  error_of<LimitError>([&] { index({least}) % -1; });
  error_of<LimitError>([&] { -index({least}); });
  error_of<LimitError>([&] { sum(index({most, 1})); });
  CHECK(error_of<ValueError>([&] { index({1}) / 0; }) == "div: 1 divided by 0");
  error_of<ShapeError>([&] { index({1, 2}) + index({1, 2, 3}); });
}
