// Transforms of pictures: against interpolate (which is held against PyTorch's), by definition, and by the laws of what
// is random.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <xgrad/kit/data/shapes.h>
#include <xgrad/kit/data/transforms.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::kit {
namespace {

/// Pictures whose numbers are all different.
Array numbered(const Shape& shape) { return arange(0.0, double(shape.numel())).value().reshaped(shape); }

double mean(const Array& array) { return std::accumulate(array.begin(), array.end(), 0.0) / double(array.size()); }

}  // namespace

TEST_CASE("resizing is interpolation with antialias, of a batch and of one picture") {
  manual_seed(1);
  const Array pictures = rand({3, 2, 9, 12}).value();
  for (const Size2d size : {Size2d(4, 5), Size2d(6, 8), Size2d(18, 24), Size2d(9, 12)}) {
    const Array expected =
        interpolate(pictures, {.size = size, .mode = Interpolation::bilinear, .antialias = true}).value();
    CHECK(equal(resize_shorter(size.height)(pictures), expected));
    CHECK(equal(resize_shorter(size.height)(pictures[{1}]), expected[{1}]));
  }
  CHECK(equal(resize_shorter(9)(pictures), pictures));
  CHECK(resize_shorter(4)(Array(Shape{1, 50, 7})).shape() == Shape{1, 28, 4});
  CHECK(resize_shorter(4)(Array(Shape{1, 1, 3})).shape() == Shape{1, 4, 12});
  CHECK_THROWS_WITH_AS(resize_shorter(0), "resize_shorter: sides must be at least 1, got 0 x 0", ValueError);
  CHECK_REFUSED(ShapeError, resize_shorter(3)(Array(Shape{2, 3})), "resize_shorter", "(B, C, H, W)", "[2, 3]");
}

TEST_CASE("the middle is where torchvision has it") {
  const Array picture = numbered({1, 7, 10});
  CHECK(center_crop({3, 4})(picture).at({0, 0, 0}) == 23);  // row 2, column 3
  // Halves are rounded to even: 0.5 to 0, 1.5 to 2, 2.5 to 2.
  CHECK(center_crop({6, 9})(picture).at({0, 0, 0}) == 0);
  CHECK(center_crop({4, 7})(picture).at({0, 0, 0}) == 22);
  CHECK(center_crop({2, 5})(picture).at({0, 0, 0}) == 22);
  CHECK(equal(center_crop({7, 10})(picture), picture));
  CHECK(
      equal(center_crop({3, 4})(picture.reshaped({1, 1, 7, 10})), center_crop({3, 4})(picture).reshaped({1, 1, 3, 4})));
  CHECK_REFUSED(ShapeError, center_crop({8, 4})(picture), "center_crop", "no 8 x 4 in pictures [1, 1, 7, 10]");
  CHECK_REFUSED(ShapeError, center_crop({3, 11})(picture), "center_crop", "no 3 x 11 in pictures [1, 1, 7, 10]");
  CHECK_THROWS_AS(center_crop({0, 1}), ValueError);
  CHECK_THROWS_AS(center_crop({1, 0}), ValueError);
}

TEST_CASE("a random shift moves each picture by up to n pixels, each way equally probable, with zeros behind it") {
  manual_seed(2);
  const Array pictures = numbered({4000, 2, 3, 4});
  const Array shifted = random_shift(1)(pictures);
  CHECK(shifted.shape() == pictures.shape());
  const Tensor around = pad(pictures, {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  Tensor matches = zeros({4000});
  std::vector<double> seen;  // of tops and lefts from -1 to 1
  for (std::int64_t top = 0; top <= 2; ++top) {
    for (std::int64_t left = 0; left <= 2; ++left) {
      const Tensor moved = around[{_, _, slice(top, top + 3), slice(left, left + 4)}];
      const Tensor same = to_real(all(Tensor(shifted) == moved, {1, 2, 3}));
      matches = matches + same;
      seen.push_back(sum(same).item());
    }
  }
  CHECK(all(matches == 1));
  double chi_square = 0;
  for (const double count : seen) chi_square += (count - 4000 / 9.0) * (count - 4000 / 9.0) / (4000 / 9.0);
  CHECK(chi_square < 26.1);                                // the quantile 0.999 with 8 degrees of freedom
  CHECK_FALSE(equal(random_shift(1)(pictures), shifted));  // the next draw
  CHECK(random_shift(7)(numbered({1, 3, 3})).shape() == Shape{1, 3, 3});
  CHECK_FALSE(equal(random_shift(7)(numbered({1, 3, 3})), numbered({1, 3, 3})));  // with this seed
  CHECK(random_shift(7)(Array(Shape{0, 1, 3, 3})).shape() == Shape{0, 1, 3, 3});
  CHECK(equal(random_shift(0)(pictures), pictures));
  CHECK_THROWS_WITH_AS(random_shift(-1), "random_shift: padding must be at least 0, got -1", ValueError);
}

TEST_CASE("a random flip exchanges left and right of about so many pictures") {
  manual_seed(4);
  const Array images = numbered({400, 2, 1, 3});
  const Tensor flipped = random_horizontal_flip(0.25)(images);
  const Mask turned = all(flipped == flip(images, {3}), {1, 2, 3});
  CHECK(all(turned || all(flipped == Tensor(images), {1, 2, 3})));
  const Real count = sum(to_real(turned)).item();
  CHECK(count > 70);
  CHECK(count < 130);
  CHECK(images.data()[0] == 0);
  CHECK(equal(random_horizontal_flip(0)(images), images));
  CHECK_THROWS_WITH_AS(random_horizontal_flip(1.5), "random_horizontal_flip: p must be in [0, 1], got 1.5", ValueError);
}

TEST_CASE("transforms are done one behind the other") {
  const Array picture = numbered({1, 2, 3});
  const Transform all = compose({normalize({.mean = {3}, .standard_deviation = {2}}), center_crop({1, 1})});
  CHECK(all(picture).shape() == Shape{1, 1, 1});
  CHECK(all(picture).item() == doctest::Approx((1 - 3) / 2.0));  // (2 - 1) / 2 is 0, (3 - 1) / 2 is 1
  CHECK(equal(compose({})(picture), picture));
  CHECK_THROWS_WITH_AS(compose({resize_shorter(1), {}}), "compose: the function is empty", ValueError);
}

TEST_CASE("channels are brought to mean 0 and deviation 1") {
  const ImageSet set = draw_shapes({.seed = 1}, {.count = 50, .channels = 3});
  const ChannelStatistics statistics = channel_statistics(set);
  REQUIRE(statistics.mean.size() == 3);
  const Array images = set.all().images, scaled = normalize(statistics)(images);
  CHECK(mean(images) ==
        doctest::Approx((statistics.mean[0] + statistics.mean[1] + statistics.mean[2]) / 3).epsilon(1e-4));
  CHECK(mean(scaled) == doctest::Approx(0).epsilon(1e-4));
  double squares = 0;
  for (const Real x : scaled) squares += double(x) * x;
  CHECK(squares / double(scaled.size()) == doctest::Approx(1).epsilon(1e-3));

  const ImageSet two{
      Shape{2, 1, 2, 3}, {0, 51, 102, 153, 204, 255, 255, 0, 0, 0, 0, 0}, Index({2}, {1, 0}), {"a", "b"}};
  const ChannelStatistics small = channel_statistics(two);  // 0 to 1 by 0.2, and 1 and five 0
  CHECK(small.mean[0] == doctest::Approx(4.0 / 12));
  CHECK(small.standard_deviation[0] == doctest::Approx(std::sqrt((2.2 + 1) / 12 - 1.0 / 9)));

  const ImageSet none(Shape{0, 1, 2, 2}, {}, Index(Shape{0}), {"a"});
  CHECK_REFUSED(ValueError, channel_statistics(none), "channel_statistics", "needs at least one picture");
  CHECK_REFUSED(ShapeError, normalize(small)(images), "normalize", "1 means for pictures [50, 3, 28, 28]");
  CHECK_REFUSED(ValueError, normalize({{0}, {0}}), "normalize", "a deviation must be above 0, got 0");
  CHECK_REFUSED(ShapeError, normalize({{0}, {}}), "normalize", "1 means and 0 deviations");
}

}  // namespace xgrad::kit
