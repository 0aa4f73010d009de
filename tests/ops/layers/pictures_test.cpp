// Padding with own elements, shuffled pictures, dropout of channels, margins of
// several classes: gradients against differences, edges, bad inputs. (PyTorch's numbers: operation_fixtures_test.cpp.)
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

TEST_CASE("a transposed convolution of a sequence has the gradients of differences") {
  check_gradients([](const Tensors& x) { return conv_transpose1d(x[0], x[1], x[2], {.stride = 2, .padding = 1}); },
                  {normal({1, 2, 4}), normal({2, 3, 3}, 2), normal({3}, 3)});
}

TEST_CASE("margins of several classes and divergences by batch have the gradients of differences") {
  const Index classes = index({2, 0});
  for (const int p : {1, 2}) {
    check_gradients(
        [&](const Tensors& x) { return multi_margin_loss(x[0], classes, {.p = p, .margin = 0.7, .weight = x[1]}); },
        {normal({2, 4}), uniform({4}, 0.5, 2)});
  }
  check_gradients(
      [](const Tensors& x) {
        return multilabel_margin_loss(x[0], index({{1, 2, -1}, {0, -1, 2}}));
      },
      {normal({2, 3})});
  check_gradients([](const Tensors& x) { return kl_div(x[0], softmax(x[1]), {.reduction = batchmean}); },
                  {normal({2, 3}), normal({2, 3}, 2)});
}

TEST_CASE("dropout of channels takes whole ones, and alpha dropout keeps mean and variance") {
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

TEST_CASE("operations on pictures refuse bad inputs") {
  const Tensor x = zeros({1, 2, 3, 4}), line = zeros({1, 2, 4});
  CHECK(error_of<ShapeError>([&] {
          pad(line, {{0, 0}, {2, 0}, {0, 0}}, PadMode::reflect);
        }) == "pad: reflect padding 2 of axis 1 of [1, 2, 4]");
  CHECK(error_of<ShapeError>([&] {
          pad(line, {{0, 0}, {0, 0}, {5, 0}}, PadMode::circular);
        }) == "pad: circular padding 5 of axis 2 of [1, 2, 4]");
  CHECK(error_of<ShapeError>([] {
          pad(zeros({0}), {{1, 0}}, PadMode::replicate);
        }) == "pad: replicate padding 1 of axis 0 of [0]");
  CHECK(error_of<ValueError>([&] { pad(line, {{1, 1}}, PadMode::reflect); }) == "pad: 1 paddings for shape [1, 2, 4]");
  CHECK(error_of<ValueError>([&] {
          pad(line, {{0, 0}, {0, -1}, {0, 0}}, PadMode::reflect);
        }) == "pad: negative padding -1 of axis 1");
  CHECK(error_of<ShapeError>([&] { pixel_shuffle(x, 2); }) ==
        "pixel_shuffle: the 2 channels of [1, 2, 3, 4] are no multiple of 4");
  CHECK(error_of<ValueError>([&] { pixel_shuffle(x, 0); }) == "pixel_shuffle: factor 0 is not positive");
  CHECK(error_of<ShapeError>([&] { pixel_unshuffle(x, 2); }) ==
        "pixel_unshuffle: height and width of [1, 2, 3, 4] are no multiples of 2");
  CHECK(error_of<ShapeError>([] {
          pixel_unshuffle(zeros({4, 4}), 2);
        }) == "pixel_unshuffle: needs (..., C, H, W), got [4, 4]");
  CHECK(error_of<ShapeError>([&] { channel_shuffle(x, 3); }) ==
        "channel_shuffle: 3 groups of the channels of [1, 2, 3, 4]");
  CHECK(error_of<ShapeError>([&] { conv_transpose1d(line, zeros({3, 1, 2})); }).find("conv_transpose1d: ") == 0);
  CHECK(error_of<ShapeError>([&] {
          conv_transpose1d(line, zeros({2, 2}));
        }) == "conv_transpose1d: weight needs 3 axes, got [2, 2]");
  CHECK(error_of<ShapeError>([] { dropout1d(zeros({3}), 0.5); }) == "dropout1d: needs (B, C, L) or (C, L), got [3]");
  CHECK(error_of<ValueError>([&] { dropout2d(x, 1.5); }) == "dropout2d: probability 1.5 is not in [0, 1]");
  CHECK(error_of<ValueError>([&] { alpha_dropout(x, -1); }) == "alpha_dropout: probability -1 is not in [0, 1]");
  CHECK(error_of<ShapeError>([] { feature_alpha_dropout(zeros({3}), 0.5); }) ==
        "feature_alpha_dropout: needs (B, C, ...), got [3]");
}

TEST_CASE("margins of several classes refuse bad inputs") {
  const Tensor x = zeros({2, 3});
  CHECK(error_of<ShapeError>([&] { multi_margin_loss(x, index({0})); }) ==
        "multi_margin_loss: scores [2, 3] and classes [1]: needs (..., C) and (...)");
  CHECK(error_of<ValueError>([&] {
          multi_margin_loss(x, index({0, 3}));
        }) == "multi_margin_loss: class 3 is not in [0, 3)");
  CHECK(error_of<ValueError>([&] {
          multi_margin_loss(x, index({0, 1}), {.p = 3});
        }) == "multi_margin_loss: p 3 is not 1 or 2");
  CHECK(error_of<ShapeError>([&] {
          multi_margin_loss(x, index({0, 1}), {.weight = zeros({2})});
        }) == "multi_margin_loss: weight [2] for 3 classes");
  CHECK(error_of<ValueError>([] {
          multi_margin_loss(zeros({0, 3}), Index(Shape{0}));
        }) == "multi_margin_loss: no elements to average, the shape is [0, 3]");
  CHECK(error_of<ShapeError>([&] {
          multilabel_margin_loss(x, index({0, 1}));
        }) == "multilabel_margin_loss: scores [2, 3] and classes [2]: needs (..., C) for both");
  CHECK(error_of<ValueError>([&] { multilabel_margin_loss(x, Index(x.shape(), -2)); }) ==
        "multilabel_margin_loss: class -2 is not in [-1, 3)");
  CHECK(error_of<ShapeError>([] { kl_div(Tensor(0), Tensor(1), {.reduction = batchmean}); }) ==
        "kl_div: batchmean needs (B, ...), got []");
  CHECK(error_of<ValueError>([] {
          kl_div(zeros({0, 2}), zeros({0, 2}), {.reduction = batchmean});
        }) == "kl_div: no elements to average, the shape is [0, 2]");
}
