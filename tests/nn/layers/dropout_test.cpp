// Dropout of elements and of whole samples.
#include "../support.h"

#include <algorithm>
#include <cmath>

#include <xgrad/core/array/random.h>
#include <xgrad/nn/layers/dropout.h>

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
  CHECK(error_of<ValueError>([] { Dropout(root, -0.1); }) == "Dropout: p -0.1 is not in [0, 1]");
  CHECK(error_of<ValueError>([] { Dropout(root, 1.5); }) == "Dropout: p 1.5 is not in [0, 1]");
  CHECK_THROWS_AS(Dropout(root, std::nan("")), ValueError);
  CHECK(equal(Dropout(root, 1)(Array({2}, Real(3))).value(), Array({2}, Real(0))));
}

TEST_CASE("Drop path zeroes or scales whole samples in training, and does nothing otherwise") {
  const DropPath layer{root, 0.25};
  const Tensor x = variable(Array({4000, 1, 2}, Real(3)));
  manual_seed(5);
  const Tensor y = layer(x);
  std::int64_t dropped = 0;
  for (std::int64_t b = 0; b < 4000; ++b) {
    const Real first = y.value().data()[2 * b];
    CHECK((first == 0 || first == 4));
    CHECK(y.value().data()[2 * b + 1] == first);
    dropped += first == 0;
  }
  CHECK(dropped > 900);
  CHECK(dropped < 1100);
  CHECK(equal(grad(y, {x}, {.seed = Array(x.shape(), Real(3))})[0].value(), y.value()));
  CHECK(!equal(layer(x).value(), y.value()));
  manual_seed(5);
  CHECK(equal(layer(x).value(), y.value()));
  CHECK(equal(DropPath(root, 1)(x).value(), Array(x.shape(), Real(0))));
  const Eval eval(layer);
  CHECK(same(layer(x), x));
}

TEST_CASE("Drop path refuses what is no probability, and a scalar") {
  CHECK(error_of<ValueError>([] { DropPath(root, -0.1); }) == "DropPath: p -0.1 is not in [0, 1]");
  CHECK_THROWS_AS(DropPath(root, std::nan("")), ValueError);
  CHECK(error_of<ShapeError>([] { DropPath(root, 0.5)(Tensor(1)); }) == "drop_path: needs (B, ...), got []");
}

}  // namespace
}  // namespace xgrad::testing
