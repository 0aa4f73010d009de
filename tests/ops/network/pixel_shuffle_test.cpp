// Padding with own elements, shuffled pictures, dropout of channels, margins of
// several classes: gradients against differences, edges, bad inputs. (PyTorch's numbers: layers_fixtures_test.cpp.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("padding and shuffling have the gradients of differences") {
  for (const PadMode mode : {PadMode::reflect, PadMode::replicate, PadMode::circular}) {
    check_gradients(
        [&](const Tensors& x) {
          return square(pad(x[0], {{0, 0}, {1, 2}, {2, 0}}, mode));
        },
        {normal({1, 3, 4})});
  }
  check_gradients([](const Tensors& x) { return square(pixel_shuffle(x[0], 2)); }, {normal({4, 2, 1})});
  check_gradients([](const Tensors& x) { return square(pixel_unshuffle(x[0], 2)); }, {normal({1, 2, 4})});
  check_gradients([](const Tensors& x) { return square(channel_shuffle(x[0], 2)); }, {normal({1, 4, 2})});
}

TEST_CASE("margins of several classes have the gradients of differences, by scores and weights") {
  const Index classes = index({2, 0});
  for (const int p : {1, 2}) {
    check_gradients(
        [&](const Tensors& x) { return multi_margin_loss(x[0], classes, {.p = p, .margin = 0.7, .weight = x[1]}); },
        {normal({2, 4}), uniform({4}, 0.5, 2)});
  }
}

TEST_CASE("dropout of channels takes entire ones, and alpha dropout keeps mean and variance") {
  const Tensor x = ones({50, 40, 3});
  const Tensor y = dropout1d(x, 0.25, {.seed = 5});
  const Tensor lowest = min(y, Axes{2}), highest = max(y, Axes{2});
  CHECK(equal(lowest.value(), highest.value()));
  CHECK(mean(y).item() == doctest::Approx(1).epsilon(0.05));
  CHECK(dropout2d(ones({3, 2, 2}), 1).shape() == Shape{3, 2, 2});
  CHECK(sum(dropout2d(ones({2, 3, 2, 2}), 1)).item() == 0);
  const Tensor z = alpha_dropout(Tensor(normal({100000})), 0.3, {.seed = 6});
  CHECK(mean(z).item() == doctest::Approx(0).epsilon(0.02));
  CHECK(var(z).item() == doctest::Approx(1).epsilon(0.03));
  CHECK(sum(abs(alpha_dropout(ones({4}), 1))).item() == 0);
  const Tensor features = feature_alpha_dropout(ones({20, 10, 4}), 0.5, {.seed = 7});
  CHECK(equal(min(features, Axes{2}).value(), max(features, Axes{2}).value()));
  check_gradients([](const Tensors& v) { return square(alpha_dropout(v[0], 0.4, {.seed = 8})); }, {normal({3, 4})});
  check_gradients([](const Tensors& v) { return square(dropout1d(v[0], 0.4, {.seed = 9})); }, {normal({3, 4, 2})});
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
  CHECK_REFUSED(ShapeError, pixel_shuffle(x, 2), "pixel_shuffle", "2 channels of [1, 2, 3, 4]", "multiple of 4");
  CHECK_REFUSED(ValueError, pixel_shuffle(x, 0), "pixel_shuffle", "factor 0");
  CHECK_REFUSED(ShapeError, pixel_unshuffle(x, 2), "pixel_unshuffle", "width of [1, 2, 3, 4]", "multiples of 2");
  CHECK_REFUSED(ShapeError, pixel_unshuffle(zeros({4, 4}), 2), "pixel_unshuffle", "(..., C, H, W)", "[4, 4]");
  CHECK_REFUSED(ShapeError, channel_shuffle(x, 3), "channel_shuffle", "3 groups", "channels of [1, 2, 3, 4]");
  CHECK_REFUSED(ShapeError, conv_transpose1d(line, zeros({3, 1, 2})), "conv_transpose1d");
  CHECK_REFUSED(ShapeError, conv_transpose1d(line, zeros({2, 2})), "conv_transpose1d", "3 axes", "[2, 2]");
  CHECK_REFUSED(ShapeError, dropout1d(zeros({3}), 0.5), "dropout1d", "(B, C, L)", "[3]");
  CHECK_REFUSED(ValueError, dropout2d(x, 1.5), "dropout2d", "probability 1.5", "[0, 1]");
  CHECK_REFUSED(ValueError, alpha_dropout(x, -1), "alpha_dropout", "probability -1", "[0, 1]");
  CHECK_REFUSED(ShapeError, feature_alpha_dropout(zeros({3}), 0.5), "feature_alpha_dropout", "(B, C, ...)", "[3]");
}

TEST_CASE("margins of several classes refuse bad inputs") {
  const Tensor x = zeros({2, 3});
  CHECK_REFUSED(ShapeError, multi_margin_loss(x, index({0})), "multi_margin_loss", "scores [2, 3]", "classes [1]");
  CHECK_REFUSED(ValueError, multi_margin_loss(x, index({0, 3})), "multi_margin_loss", "class 3", "[0, 3)");
  CHECK_REFUSED(ValueError, multi_margin_loss(x, index({0, 1}), {.p = 3}), "multi_margin_loss", "p 3");
  CHECK_REFUSED(ShapeError, multi_margin_loss(x, index({0, 1}), {.weight = zeros({2})}), "multi_margin_loss",
                "weight [2]", "3 classes");
  CHECK_REFUSED(ValueError, multi_margin_loss(zeros({0, 3}), Index(Shape{0})), "multi_margin_loss",
                "no elements to average", "[0, 3]");
  CHECK_REFUSED(ShapeError, multilabel_margin_loss(x, index({0, 1})), "multilabel_margin_loss", "scores [2, 3]",
                "classes [2]");
  CHECK_REFUSED(ValueError, multilabel_margin_loss(x, Index(x.shape(), -2)), "multilabel_margin_loss", "class -2",
                "[-1, 3)");
  CHECK_REFUSED(ShapeError, kl_div(Tensor(0), Tensor(1), {.reduction = batchmean}), "kl_div", "(B, ...)", "[]");
  CHECK_REFUSED(ValueError, kl_div(zeros({0, 2}), zeros({0, 2}), {.reduction = batchmean}), "kl_div",
                "no elements to average", "[0, 2]");
}
