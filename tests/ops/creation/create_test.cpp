// Arrays and tensors from numbers, patterns and chance.
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("tensors from lists take their shape from the nesting") {
  CHECK(tensor({1, 2, 3}).shape() == Shape{3});
  CHECK(tensor({{0}, {1}}).shape() == Shape{2, 1});
  CHECK(equal(mask({{true, false}, {false, false}}), Mask({2, 2}, {true, false, false, false})));
  CHECK(tensor({{0, 0}, {0, 0}}).shape() == Shape{2, 2});
  CHECK(tensor({}).shape() == Shape{0});
  CHECK(tensor({{1, 2}, {3, 4}, {5, 6}}).shape() == Shape{3, 2});
  const Tensor cube = tensor({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}});
  CHECK(cube.shape() == Shape{2, 2, 2});
  CHECK(cube.value().at({1, 0, 1}) == 6);
  CHECK(index({{1, 2}, {3, 4}}).at({1, 0}) == 3);
  CHECK_REFUSED(ShapeError, tensor({{1, 2}, {3}}), "tensor", "parts of shapes [2]", "[1]");
}

TEST_CASE("patterns") {
  check_close(zeros({2, 2}).value(), Array({2, 2}, {0, 0, 0, 0}));
  check_close(full({2}, 7).value(), Array({2}, {7, 7}));
  check_close(ones_like(zeros({2})).value(), Array({2}, {1, 1}));
  check_close(eye(2, 3).value(), Array({2, 3}, {1, 0, 0, 0, 1, 0}));
  check_close(linspace(0, 1, 5).value(), Array({5}, {0, 0.25, 0.5, 0.75, 1}));
  check_close(linspace(-1, 2, 4).value(), Array({4}, {-1, 0, 1, 2}));
  CHECK(linspace(3, 9, 1).item() == 3);
  constexpr Real huge = std::numeric_limits<Real>::max();
  check_close(linspace(-huge, huge, 5).value(), Array({5}, {-huge, -huge / 2, 0, huge / 2, huge}));
  CHECK(equal(arange(4), index({0, 1, 2, 3})));
  CHECK(equal(arange(2, 9, 3), index({2, 5, 8})));
  CHECK(equal(arange(3, 0, -1), index({3, 2, 1})));
  CHECK(arange(5, 2).size() == 0);
  CHECK_REFUSED(ValueError, arange(0, 4, 0), "arange", "step is 0");
  CHECK(equal(arange(0, 3, 1.5).value(), tensor({0, 1.5}).value()));
  CHECK(equal(arange(2.5).value(), tensor({0, 1, 2}).value()));
  CHECK(equal(arange(0.5, 3).value(), tensor({0.5, 1.5, 2.5}).value()));
  CHECK(equal(arange(1, 0, -0.25f).value(), tensor({1, 0.75, 0.5, 0.25}).value()));
  CHECK(arange(0., -1).size() == 0);
  CHECK_REFUSED(ValueError, arange(0, 4, 0.), "arange", "step is 0");
  CHECK_REFUSED(ValueError, arange(0, 1e300 * 1e300), "arange", "inf is not finite");
  CHECK_REFUSED(LimitError, arange(0, 1e300), "arange", "1e+300 numbers", "0", "1e+300");
  CHECK_REFUSED(ValueError, arange(-1), "arange", "negative count -1");
  check_close(to_real(index({1, -2})).value(), Array({2}, {1, -2}));
  check_close(to_real(tensor({1, 3}) > 2).value(), Array({2}, {0, 1}));
}

TEST_CASE("a range of reals ends before its last number, whatever rounding does") {
  std::int64_t wrong = 0;
  for (std::int64_t n = 1; n <= 100; ++n) {
    for (std::int64_t k = 0; k <= 2 * n; ++k) {
      const auto over = [n](std::int64_t i) { return static_cast<double>(i) / static_cast<double>(n); };
      wrong += arange(0, over(k), over(1)).size() != k;
      wrong += arange(over(k), 0, over(-1)).size() != k;
      wrong += arange(over(-3), over(k - 3), over(1)).size() != k;
      wrong += arange(0.f, static_cast<float>(over(k)), static_cast<float>(over(1))).size() != k;
      wrong += arange(0, over(k), over(3)).size() != (k + 2) / 3;
    }
  }
  CHECK(wrong == 0);
  CHECK(arange(0, 1 + 1e-9, 0.1).size() == 11);
  CHECK(arange(0, 1e-20, 0.5).size() == 1);
  CHECK(arange(1e16, 1e16 + 8, 1.).size() == 8);
}
