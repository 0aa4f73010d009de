// Arithmetic: edges, comparisons. (Values and gradients with broadcasting:
// elementwise_fixtures_test.cpp and random_cases_test.cpp.)
#include <cmath>
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("square roots by pow at the edges, in every place of a register") {
  const Real infinity = std::numeric_limits<Real>::infinity(), least = std::numeric_limits<Real>::denorm_min();
  for (const double half : {0.5, -0.5}) {
    for (const Real x : {Real(0), Real(-0.0), least, Real(0.3), Real(2), infinity, -infinity, Real(-1), -least, Real(std::nan(""))}) {
      CAPTURE(x);
      // Of a row as long as the registers, too.
      const Array found = pow(full({19}, x), half).value();
      const Real expected = std::pow(x, static_cast<Real>(half));
      for (const Real y : found) {
        if (std::isnan(expected)) {
          CHECK(std::isnan(y));
        } else {
          CHECK((y == expected || y == doctest::Approx(expected).epsilon(1e-15)));
          CHECK(std::signbit(y) == std::signbit(expected));
        }
      }
    }
  }
}

TEST_CASE("comparisons give masks with broadcasting; NaN is equal to nothing") {
  const Tensor a = tensor({{1, 2, 3}, {3, 2, 1}}), b = tensor({2, 2, 2});
  CHECK(equal(a < b, Mask(Shape{2, 3}, {true, false, false, false, false, true})));
  CHECK(equal(a <= b, Mask(Shape{2, 3}, {true, true, false, false, true, true})));
  CHECK(equal(a > b, Mask(Shape{2, 3}, {false, false, true, true, false, false})));
  CHECK(equal(a >= b, Mask(Shape{2, 3}, {false, true, true, true, true, false})));
  CHECK(equal(a == b, Mask(Shape{2, 3}, {false, true, false, false, true, false})));
  CHECK(equal(a != b, Mask(Shape{2, 3}, {true, false, true, true, false, true})));
  const Tensor none(std::nan(""));
  CHECK((none != none).item());
  CHECK_FALSE((none == none).item());
}
