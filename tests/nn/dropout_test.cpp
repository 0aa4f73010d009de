// Dropout.
#include "support.h"

#include <algorithm>
#include <cmath>

#include <xgrad/core/random.h>
#include <xgrad/nn/dropout.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Dropout zeroes and scales in training, and does nothing otherwise") {
  const Dropout layer{root, 0.25};
  const Tensor x(Array({10000}, Real(3)));
  manual_seed(5);
  const Array y = layer(x).value();
  const auto zeros = std::ranges::count(y, Real(0));
  CHECK(zeros > 2300);
  CHECK(zeros < 2700);
  CHECK(std::ranges::count(y, Real(4)) == 10000 - zeros);
  CHECK(!equal(layer(x).value(), y));
  manual_seed(5);
  CHECK(equal(layer(x).value(), y));
  const Eval eval(layer);
  CHECK(same(layer(x), x));
}

TEST_CASE("Dropout refuses what is no probability") {
  CHECK(error_of<ValueError>([] { Dropout(root, -0.1); }) == "dropout: p must be in [0, 1], got -0.1");
  CHECK(error_of<ValueError>([] { Dropout(root, 1.5); }) == "dropout: p must be in [0, 1], got 1.5");
  CHECK_THROWS_AS(Dropout(root, std::nan("")), ValueError);
  CHECK(equal(Dropout(root, 1)(Array({2}, Real(3))).value(), Array({2}, Real(0))));
}

}  // namespace
}  // namespace xgrad::testing
