// Shrinking functions: limits, gradients against differences, and bad inputs. (PyTorch's numbers:
// elementwise_fixtures_test.cpp.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("rrelu has the gradients of differences") {
  check_gradients([](const Tensors& x) { return rrelu(x[0], {}, {.seed = 3}); }, {uniform({3, 4}, -2, -0.3)});
}

TEST_CASE("limits of special functions are seen, and what is undefined is NaN") {
  CHECK(std::isnan(softshrink(not_a_number).item()));
  const Tensor x = uniform({1000}, -3, 3);
  const Tensor slopes = rrelu(x) / x;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Real slope = slopes.value().data()[i];
    if (x.value().data()[i] >= 0) CHECK(slope == 1);
    if (x.value().data()[i] < 0) CHECK((slope >= 0.125 && slope <= Real(1) / 3));
  }
}

TEST_CASE("special functions refuse bad settings") {
  const Tensor x = zeros({2, 3});
  CHECK_REFUSED(ValueError, hardshrink(x, -1), "hardshrink", "lambda -1");
  CHECK_REFUSED(ValueError, softshrink(x, not_a_number), "softshrink", "lambda nan");
  CHECK_REFUSED(ValueError, rrelu(x, {.lower = 1, .upper = 0}), "rrelu", "slopes from 1 to 0");
}
