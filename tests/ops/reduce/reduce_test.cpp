// Reductions: axes, edges, bad input. (Values and gradients: reduce_fixtures_test.cpp and random_cases_test.cpp.)
#include <functional>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("the mean of a mask is the fraction of true elements") {
  const Mask mask({2, 3}, {true, false, true, false, false, true});
  CHECK(mean(mask).item() == Real(0.5));
  check_close(mean(mask, 1).value(), tensor({2. / 3, 1. / 3}).value());
  check_close(mean(mask, 0, {.keepdim = true}).value(), tensor({{0.5, 0, 1}}).value());
  CHECK(mean(index({3, 1, 2, 2}) == index({3, 0, 2, 2})).item() == Real(0.75));
  CHECK_FALSE(mean(variable({1, 2}) > 1).requires_grad());
  CHECK_REFUSED(ValueError, mean(Mask({0, 2}, false), 0), "mean", "shape [0, 2]", "axes [0]");
  CHECK_REFUSED(ValueError, mean(mask, 2), "mean", "axis 2", "rank 2");
}

TEST_CASE("the gradient of a product along any axis is right where a factor is 0") {
  Array with_zero = normal({3, 4});
  with_zero.mutable_data()[5] = 0;
  for (const int axis : {0, 1}) {
    check_gradients([axis](const Tensors& t) { return prod(t[0], axis); }, {with_zero});
  }
}

TEST_CASE("sum_to undoes every broadcast between shapes of up to four axes") {
  const std::int64_t sizes[] = {0, 1, 2, 3};
  int pairs = 0;
  std::function<void(Shape)> each = [&](Shape to) {
    if (to.rank() < 4) {
      for (const std::int64_t size : sizes) {
        Shape longer = to;
        longer.push_back(size);
        each(longer);
      }
    }
    const Array x = normal(to, 4);
    for (int drop = 0; drop <= to.rank(); ++drop) {
      for (int bits = 0; bits < 1 << (to.rank() - drop); ++bits) {
        Shape from;
        Axes axes;
        for (int i = 0; i < to.rank(); ++i) {
          const bool one = i >= drop && (bits >> (i - drop) & 1);
          if (i < drop || one) axes.push_back(i);
          if (i >= drop) from.push_back(one ? 1 : to[i]);
        }
        ++pairs;
        const Array expected = sum(x, axes).value().reshaped(from);
        REQUIRE(difference(sum_to(x, from).value(), expected) <= 1e-13);
      }
    }
  };
  each({});
  CHECK(pairs == 1 + 4 * 3 + 16 * 7 + 64 * 15 + 256 * 31);
  CHECK_REFUSED(ShapeError, sum_to(ones({2, 3}), {2}), "sum_to", "[2, 3]", "[2]");
}

TEST_CASE("long sums are exact where they can be, and the same for any number of threads") {
  CHECK(sum(full({1 << 25}, 0.1)).item() == doctest::Approx((1 << 25) * 0.1).epsilon(1e-14));
  const Array x = normal({300, 1001}, 6), y = normal({100000}, 7);
  check_same_bits([&] { return concat({flatten(sum(x)), sum(x, 0), sum(x, 1), flatten(sum(y))}); });
}
