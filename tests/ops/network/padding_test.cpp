// Padding with own elements, dropout of channels, divergences by batch: edges, bad inputs. (Values and gradients:
// layers_fixtures_test.cpp, losses_fixtures_test.cpp and the catalogue of operations.)
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("dropout of channels takes entire ones") {
  const Tensor x = ones({50, 40, 3, 2});
  const Tensor y = dropout2d(x, 0.25, {.seed = 5});
  const Tensor lowest = min(y, Axes{2, 3}), highest = max(y, Axes{2, 3});
  CHECK(equal(lowest.value(), highest.value()));
  CHECK(mean(y).item() == doctest::Approx(1).epsilon(0.05));
  CHECK(dropout2d(ones({3, 2, 2}), 1).shape() == Shape{3, 2, 2});
  CHECK(sum(dropout2d(ones({2, 3, 2, 2}), 1)).item() == 0);
}

TEST_CASE("operations on images refuse bad inputs") {
  const Tensor x = zeros({1, 2, 3, 4}), line = zeros({1, 2, 4});
  CHECK_REFUSED(ShapeError, pad(line, {{0, 0}, {2, 0}, {0, 0}}, PadMode::reflect), "pad", "reflect padding 2",
                "axis 1 of [1, 2, 4]");
  CHECK_REFUSED(ShapeError, pad(line, {{0, 0}, {0, 0}, {5, 0}}, PadMode::circular), "pad", "circular padding 5",
                "axis 2 of [1, 2, 4]");
  CHECK_REFUSED(ShapeError, pad(zeros({0}), {{1, 0}}, PadMode::replicate), "pad", "replicate padding 1",
                "axis 0 of [0]");
  CHECK_REFUSED(ValueError, pad(line, {{1, 1}}, PadMode::reflect), "pad", "1 {before, after} for axes of [1, 2, 4]");
  CHECK_REFUSED(ValueError, pad(line, {{0, 0}, {0, -1}, {0, 0}}, PadMode::reflect), "pad", "negative padding -1",
                "axis 1");
  CHECK_REFUSED(ShapeError, dropout2d(zeros({3}), 0.5), "dropout2d", "(B, C, H, W)", "[3]");
  CHECK_REFUSED(ValueError, dropout2d(x, 1.5), "dropout2d", "probability 1.5", "[0, 1]");
}

TEST_CASE("a divergence by batch refuses what has no batch") {
  CHECK_REFUSED(ShapeError, kl_div(Tensor(0), Tensor(1), {.reduction = batchmean}), "kl_div", "(B, ...)", "[]");
  CHECK_REFUSED(ValueError, kl_div(zeros({0, 2}), zeros({0, 2}), {.reduction = batchmean}), "kl_div",
                "no elements to average", "[0, 2]");
}
