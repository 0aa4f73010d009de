// Rotary positions: what the paper says of them, gradients, and bad input. PyTorch's numbers: layers_fixtures_test.
#include <cmath>
#include <numbers>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

namespace xgrad::testing {
namespace {

constexpr RotaryLayout layouts[] = {RotaryLayout::halves, RotaryLayout::interleaved};

TEST_CASE("inner products after rotary depend on how far apart two positions are, and lengths stay") {
  for (const RotaryLayout layout : layouts) {
    const auto product = [&](std::int64_t i, std::int64_t j) {
      const auto at = [&](std::uint64_t seed, std::int64_t position) {
        return rotary(normal({1, 1, 10}, seed), {.first = position, .layout = layout});
      };
      return sum(at(1, i) * at(2, j)).item();
    };
    CHECK(product(7, 3) == doctest::Approx(product(4, 0)).epsilon(1e-12));
    CHECK(product(1007, 1003) == doctest::Approx(product(4, 0)).epsilon(1e-10));
    CHECK(std::abs(product(7, 3) - product(3, 7)) > 1e-3);
    const Tensor x(normal({2, 6, 12}));
    check_close(sum(square(rotary(x, {.heads = 2, .layout = layout})), -1).value(),
                sum(square(x), -1).value());
  }
}

TEST_CASE("rotary is its formula in single operations, has gradients of any order, and works on any leading axes") {
  for (const RotaryLayout layout : layouts) {
    const RotaryOptions options{.heads = 2, .first = 3, .layout = layout, .scaling = RotaryScaling{.context = 16}};
    for (const Shape& shape : {Shape{3, 4}, {2, 3, 12}, {1, 2, 1, 8}}) {
      check_fused([&](const Tensors& x) { return square(rotary(x[0], options)); },
                  [&](const Tensors& x) { return square(plain::rotary(x[0], options)); }, {normal(shape)});
    }
    const Tensor x(normal({2, 3, 4, 8}));
    check_close(rotary(x, {.layout = layout}).value()[{1, 2}], rotary(x[{1, 2}], {.layout = layout}).value());
    check_close(rotary(x[{_, _, slice(1, 4)}], {.first = 1, .layout = layout}).value(),
                rotary(x, {.layout = layout}).value()[{_, _, slice(1, 4)}]);
  }
  CHECK(rotary(zeros({0, std::int64_t{1} << 40, 4})).shape() == Shape{0, std::int64_t{1} << 40, 4});
  CHECK(rotary(zeros({3, 0})).shape() == Shape{3, 0});
}

TEST_CASE("with scaling, fast pairs turn as before, slow ones by a factor less, and those between by interpolation") {
  const double turn = 2 * std::numbers::pi;
  const auto angle = [&](std::int64_t context, double theta, std::int64_t j) {
    const Tensor x = tensor({{1, 1, 0, 0}, {1, 1, 0, 0}});
    const RotaryScaling scaling{.factor = 8, .low = 1, .high = 4, .context = context};
    const Array y = rotary(x, {.theta = theta, .scaling = scaling}).value();
    return std::atan2(y.at({1, j + 2}), y.at({1, j}));
  };
  CHECK(angle(30, 10000, 0) == doctest::Approx(1));      // 4.77 turns
  CHECK(angle(5, 10000, 0) == doctest::Approx(1. / 8));  // 0.80
  const double weight = (15 / turn - 1) / 3;              // 2.39
  CHECK(angle(15, 10000, 0) == doctest::Approx((1 - weight) / 8 + weight));
  CHECK(angle(30, 10000, 1) == doctest::Approx(0.01 / 8));
}

TEST_CASE("rotary is the same bits for any number of threads") {
  const Tensor x(normal({3, 500, 66}));
  check_same_bits([&] { return rotary(x, {.heads = 3}); });
}

TEST_CASE("rotary refuses what it cannot turn") {
  const Tensor x = zeros({2, 6});
  CHECK_REFUSED(ShapeError, rotary(zeros({4})), "rotary", "(..., positions, width)", "[4]");
  CHECK_REFUSED(ValueError, rotary(x, {.heads = 0}), "rotary", "heads 0");
  CHECK_REFUSED(ValueError, rotary(x, {.heads = 4}), "rotary", "width 6", "4 heads");
  CHECK_REFUSED(ValueError, rotary(x, {.heads = 2}), "rotary", "width 6", "2 heads");
  CHECK_REFUSED(ValueError, rotary(x, {.first = -1}), "rotary", "position -1", "[0, 2^40]");
  for (const double theta : {0., 0.5, -1., std::nan(""), std::numeric_limits<double>::infinity()}) {
    CHECK_REFUSED(ValueError, rotary(x, {.theta = theta}), "rotary", str("theta ", theta), "at least 1");
  }
  const auto scaled = [&](const RotaryScaling& scaling) { rotary(x, {.scaling = scaling}); };
  CHECK_REFUSED(ValueError, scaled({.factor = 0.5}), "rotary", "factor 0.5", "at least 1");
  CHECK_REFUSED(ValueError, scaled({.low = 0}), "rotary", "low 0", "high 4");
  CHECK_REFUSED(ValueError, scaled({.low = 4}), "rotary", "low 4", "high 4");
  CHECK_REFUSED(ValueError, scaled({.context = 0}), "rotary", "context 0");
}

}  // namespace
}  // namespace xgrad::testing
