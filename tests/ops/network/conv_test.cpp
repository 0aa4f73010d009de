// Convolutions: against the product with their columns, gradients against differences, bad input.
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fused.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct Geometry {
  Shape image, weight;
  Size2d stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;

  Conv2dFuncOptions options() const {
    return {.stride = stride, .padding = {padding.height, padding.width}, .dilation = dilation, .groups = groups};
  }
  Tensor operator()(const Tensors& in) const { return conv2d(in[0], in[1], in[2], options()); }
};

}  // namespace

TEST_CASE(
    "conv2d is the product with the columns, for sizes around those of tiles and images that would displace one "
    "another") {
  for (const Geometry& g : std::initializer_list<Geometry>{
           {{2, 3, 9, 31}, {33, 3, 3, 3}},
           {{1, 32, 6, 6}, {31, 32, 3, 3}, 1, 1},
           {{1, 15, 16, 16}, {17, 15, 3, 3}},
           {{1, 4, 32, 32}, {8, 4, 5, 5}, 1, 2},
           {{3, 2, 11, 13}, {64, 2, 3, 3}, {2, 1}, {0, 1}, {1, 3}},
           {{17, 1, 7, 7}, {4, 1, 3, 3}},
           {{1, 8, 8, 8}, {8, 1, 3, 3}, 2, 1, 1, 8},
           {{3, 5, 9, 37}, {5, 1, 5, 4}, {2, 1}, {2, 3}, {1, 2}, 5},
           {{2, 6, 5, 70}, {4, 3, 2, 2}, 3, 2, 2, 2},
           {{2, 2, 3, 3}, {3, 2, 3, 3}, 1, 150, 150},
           {{2, 4, 6, 5}, {6, 2, 3, 2}, {90, 100}, {390, 299}, {120, 300}, 2},
       }) {
    CAPTURE(str(g.image, " ", g.weight));
    check_fused(g, [&](const Tensors& x) { return plain::conv2d(x[0], x[1], x[2], g.options()); },
                {normal(g.image), normal(g.weight, 2), normal({g.weight[0]}, 3)});
  }
  const Tensor image = normal({3, 5, 6}), w = normal({4, 3, 2, 4}, 2);
  const Conv2dFuncOptions same{.padding = same_padding, .dilation = {3, 1}};
  check_close(conv2d(image, w, {}, same).value(), plain::conv2d(image, w, {}, same).value());
}

TEST_CASE("a stride beyond the image leaves the first result") {
  const Tensor x = variable(normal({1, 1, 5, 5})), w = variable(normal({1, 1, 2, 2}, 2));
  const Tensor y = conv2d(x, w, {}, {.stride = most});
  CHECK(y.shape() == Shape{1, 1, 1, 1});
  const Tensors g = grad(y, {x, w});
  check_close(g[0].value(), pad(w, {{0, 0}, {0, 0}, {0, 3}, {0, 3}}).value());
  check_close(g[1].value(), x[{0, 0, slice(0, 2), slice(0, 2)}].value().reshaped({1, 1, 2, 2}));
  CHECK(equal(fold(unfold(x, 2, {.stride = most}), 5, 2, {.stride = most}).value(),
              pad(x[{_, _, slice(0, 2), slice(0, 2)}], {{0, 0}, {0, 0}, {0, 3}, {0, 3}}).value()));
}

TEST_CASE("convolutions have third derivatives, and gradients under strides larger than the image") {
  check_gradients(Geometry{{1, 2, 2, 3}, {2, 2, 2, 2}, {300, 200}, {300, 199}, {300, 200}},
                  {normal({1, 2, 2, 3}), normal({2, 2, 2, 2}, 2), normal({2}, 3)});
  check_gradients(Geometry{{2, 2, 4, 3}, {3, 2, 2, 3}, {2, 1}, 1, {1, 2}},
                  {normal({2, 2, 4, 3}), normal({3, 2, 2, 3}, 2), normal({3}, 3)}, {.order = 3});
  check_gradients(
      [](const Tensors& x) {
        return conv_transpose2d(x[0], x[1], x[2], {.stride = {2, 3}, .padding = 1, .output_padding = {1, 0}});
      },
      {normal({1, 2, 3, 2}), normal({2, 2, 3, 3}, 2), normal({2}, 3)}, {.order = 3});
}

TEST_CASE("convolutions are the same bits for any number of threads, and for any batch") {
  const Tensor x = variable(normal({19, 5, 9, 10})), w = variable(normal({40, 5, 3, 3}, 2));
  check_same_bits([&] {
    const Tensor y = conv2d(x, w, {}, {.stride = {1, 2}, .padding = 1});
    Tensors parts{flatten(y)};
    for (const Tensor& g : grad(y, {x, w}, {.seed = normal(y.shape(), 3)})) parts.push_back(flatten(g));
    return concat(parts);
  });
  const Tensor y = conv2d(x, w, {}, {.padding = 1});
  CHECK(equal(narrow(y, 0, 7, 1).value(), conv2d(narrow(x, 0, 7, 1), w, {}, {.padding = 1}).value()));
  check_same_bits([&] { return conv2d(narrow(x, 0, 0, 1), w); });
  const Tensor large = variable(normal({3, 300, 4, 4})), kernel = variable(normal({200, 300, 3, 3}, 2));
  check_same_bits([&] {
    const Tensor y = conv2d(large, kernel, {}, {.padding = 1});
    return grad(y, {kernel}, {.seed = normal(y.shape(), 3)})[0];
  });
}

TEST_CASE("infinities and NaN stay where the kernel sees them") {
  Array x({1, 1, 5, 5}, 1);
  x.mutable_data()[0] = infinity;
  x.mutable_data()[24] = not_a_number;
  Array expected({1, 1, 3, 3}, 9);
  expected.mutable_data()[0] = infinity;
  expected.mutable_data()[8] = not_a_number;
  check_close(conv2d(x, ones({1, 1, 3, 3})).value(), expected, 0);
}

TEST_CASE("convolutions of no channels, and columns of no images") {
  CHECK(equal(conv2d(zeros({1, 0, 3, 3}), zeros({2, 0, 3, 3}), tensor({1, 2})).value(), Array({1, 2, 1, 1}, {1, 2})));
  CHECK(unfold(zeros({0, 3, 5, 5}), 2).shape() == Shape{0, 12, 16});
  for (const Real pixel : {7, 8}) CHECK(unfold(full({1, 1, 1, 1}, pixel), 1).item() == pixel);
  CHECK(fold(zeros({0, 12, 16}), 5, 2).shape() == Shape{0, 3, 5, 5});
}

TEST_CASE("convolutions refuse what does not fit and name it") {
  const auto conv = [](const Shape& x, const Shape& w, const Conv2dFuncOptions& options = {}, const Tensor& bias = {}) {
    conv2d(Array(x, 1), Array(w, 1), bias, options);
  };
  const Shape x{1, 2, 5, 5}, w{2, 2, 3, 3};
  CHECK_REFUSED(ShapeError, conv({5, 5}, w), "conv2d", "4 axes", "[5, 5]");
  CHECK_REFUSED(ShapeError, conv(x, {2, 3, 3}), "conv2d", "weight", "4 axes", "[2, 3, 3]");
  CHECK_REFUSED(ShapeError, conv(x, {2, 3, 3, 3}), "conv2d", "[1, 2, 5, 5] has 2", "[2, 3, 3, 3] takes 3", "1 group");
  CHECK_REFUSED(ShapeError, conv({1, 3, 5, 5}, {4, 2, 3, 3}, {.groups = 2}), "conv2d", "[1, 3, 5, 5] has 3",
                "[4, 2, 3, 3] takes 2", "2 groups");
  CHECK_REFUSED(ShapeError, conv({1, 6, 5, 5}, {4, 2, 3, 3}, {.groups = 3}), "conv2d", "[4, 2, 3, 3]", "3 groups");
  CHECK_REFUSED(ShapeError, conv(x, {2, 2, 0, 3}), "conv2d", "weight [2, 2, 0, 3]", "empty kernel");
  CHECK_REFUSED(ShapeError, conv(x, w, {}, ones({3})), "conv2d", "bias [3]", "2 channels");
  CHECK_REFUSED(ShapeError, conv({1, 2, 5, 2}, w), "conv2d", "kernel of 3", "dilation 1", "over 3", "has 2");
  CHECK_REFUSED(ShapeError, conv(x, w, {.padding = 1, .dilation = 4}), "conv2d", "dilation 4", "over 9", "has 7");
  CHECK_REFUSED(ValueError, conv(x, w, {.stride = {1, 0}}), "conv2d", "stride 0");
  CHECK_REFUSED(ValueError, conv(x, w, {.padding = {-1, 0}}), "conv2d", "padding -1");
  CHECK_REFUSED(ValueError, conv(x, w, {.dilation = 0}), "conv2d", "dilation 0");
  CHECK_REFUSED(ValueError, conv(x, w, {.groups = 0}), "conv2d", "groups 0");
  CHECK_REFUSED(ValueError, conv(x, w, {.stride = 2, .padding = same_padding}), "conv2d", "same_padding", "2 and 2");
  CHECK_REFUSED(LimitError, conv(x, w, {.padding = most}), "conv2d", str("2 * ", most));
  CHECK_REFUSED(LimitError, conv(x, w, {.dilation = most}), "conv2d", str(most, " * 2"));
  CHECK_REFUSED(LimitError, conv(x, {2, 2, 2, 2}, {.padding = same_padding, .dilation = most - 1}), "conv2d",
                str("4 + ", most));
  constexpr std::int64_t huge = std::int64_t{1} << 32;
  CHECK_REFUSED(LimitError, unfold(ones({1, 1, 1, 1}), huge, {.padding = huge / 2}), "unfold",
                "4294967296 * 4294967296 does not fit 64 bits");
  CHECK_REFUSED(LimitError, unfold(ones({1, 1, 1, 1}), 1, {.padding = huge}), "unfold",
                "8589934593 * 8589934593 does not fit 64 bits");
  CHECK_REFUSED(LimitError, fold(ones({1, 1, 1}), 1, 1, {.padding = huge}), "fold", "8589934593 * 8589934593 does not fit 64 bits");
  CHECK_REFUSED(ShapeError, conv1d(ones({2, 3, 5}), ones({2, 3, 6})), "conv1d", "kernel of 6", "dilation 1", "6",
                "image has 5");
  CHECK_REFUSED(ShapeError, conv1d(ones({2, 3, 5}), ones({2, 2, 2})), "conv1d", "input [2, 3, 5] has 3",
                "weight [2, 2, 2] takes 2", "1 group");
  CHECK_REFUSED(ShapeError, conv1d(ones({5}), ones({2, 3, 6})), "conv1d", "3 axes", "[5]");
  CHECK_REFUSED(ShapeError, conv1d(ones({2, 3, 5}), ones({3})), "conv1d", "weight", "[3]");
  CHECK_REFUSED(ValueError, conv_transpose2d(ones({1, 2, 3, 3}), ones({2, 1, 3, 3}), {}, {.output_padding = 1}),
                "conv_transpose2d", "output_padding 1", "stride 1", "dilation 1");
  CHECK_REFUSED(ShapeError, conv_transpose2d(ones({1, 2, 1, 3}), ones({2, 1, 3, 3}), {}, {.padding = 2}),
                "conv_transpose2d", "axis of 1 gives 3", "padding 2");
  CHECK_REFUSED(ShapeError, conv_transpose2d(ones({1, 3, 3, 3}), ones({2, 1, 3, 3})), "conv_transpose2d",
                "input [1, 3, 3, 3] has 3", "weight [2, 1, 3, 3] takes 2", "1 group");
  CHECK_REFUSED(ShapeError, fold(ones({2, 7, 4}), 3, 2), "fold", "columns [2, 7, 4]", "4 taps", "4",
                "image of [3, 3]");
  CHECK_REFUSED(ShapeError, unfold(ones({2, 7, 1, 4}), 2), "unfold", "kernel of 2", "dilation 1", "2", "image has 1");
  CHECK_REFUSED(ValueError, unfold(ones({2, 7, 4, 4}), 0), "unfold", "kernel 0");
}
