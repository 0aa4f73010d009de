// Pooling: windows at the edges, equal numbers, NaN, bad input. (Gradients: layers_fixtures_test.cpp, random_cases_test.cpp.)
#include <cmath>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/threads.h"

namespace xgrad::testing {

TEST_CASE("the first of equal numbers gets the gradient of max pooling, and NaN wins") {
  const Tensor x = variable(Array({1, 2, 4}, {1, 1, -1, not_a_number, 1, 1, 5, -1}));
  const Tensor y = max_pool2d(x, 2);
  CHECK(y.value().at({0, 0, 0}) == 1);
  CHECK(std::isnan(y.value().at({0, 0, 1})));
  CHECK(equal(grad(y, {x}, {.seed = Array({1, 1, 2}, {3, 4})})[0].value(), Array({1, 2, 4}, {3, 0, 0, 4, 0, 0, 0, 0})));
  const Tensor lowest = variable(Array({1, 2, 2}, -infinity));
  const Tensor least = max_pool2d(lowest, 2);
  CHECK(least.item() == -infinity);
  CHECK(equal(grad(least, {lowest}, {.seed = Array({1, 1, 1}, {1})})[0].value(), Array({1, 2, 2}, {1, 0, 0, 0})));
}

TEST_CASE("a neighbour without weight takes no part in an interpolation") {
  const Tensor x = Array({1, 1, 1, 3}, {1, not_a_number, 3});
  const Tensor y =
      interpolate(x, {.size = Size2d{1, 5}, .mode = Interpolation::bilinear, .align_corners = AlignCorners::yes});
  CHECK(y.value().at({0, 0, 0, 0}) == 1);
  CHECK(std::isnan(y.value().at({0, 0, 0, 1})));
  CHECK(y.value().at({0, 0, 0, 4}) == 3);
}

TEST_CASE("pooling is the same bits for any number of threads") {
  const Tensor x = variable(normal({40, 6, 33, 31}));
  check_same_bits([&] {
    Tensors parts;
    for (const Tensor& y : {max_pool2d(x, 3, {.stride = 2, .padding = 1}), avg_pool2d(x, 3, {.stride = 2}),
                            interpolate(x, {.size = Size2d{20, 50}, .mode = Interpolation::bilinear})}) {
      parts.push_back(flatten(y));
      parts.push_back(flatten(grad(y, {x}, {.seed = y.detach()})[0]));
    }
    return concat(parts);
  });
}

TEST_CASE("pooling refuses what does not fit") {
  const Tensor x = zeros({2, 3, 4, 5});
  CHECK_REFUSED(ShapeError, max_pool2d(zeros({4, 5}), 2), "max_pool2d", "(C, H, W)", "[4, 5]");
  CHECK_REFUSED(ShapeError, avg_pool2d(zeros({3, 0, 5}), 2), "avg_pool2d", "(C, H, W)", "[3, 0, 5]");
  CHECK_REFUSED(ShapeError, max_pool1d(x, 2), "max_pool1d", "(C, L)", "[2, 3, 4, 5]");
  CHECK_REFUSED(ShapeError, max_pool2d(x, {5, 2}), "max_pool2d", "window of 5", "padding, 4");
  CHECK_REFUSED(ValueError, max_pool2d(x, 0), "max_pool2d", "kernel 0");
  CHECK_REFUSED(ValueError, avg_pool2d(x, 2, {.stride = 0}), "avg_pool2d", "stride 0");
  CHECK_REFUSED(ValueError, avg_pool2d(x, 3, {.padding = 2}), "avg_pool2d", "padding 2", "[0, 1]");
  CHECK_REFUSED(ValueError, avg_pool2d(x, 3, {.padding = -1}), "avg_pool2d", "padding -1", "[0, 1]");
  CHECK_REFUSED(LimitError, max_pool2d(x, 2, {.stride = most}), "max_pool2d", "stride 9223372036854775807",
                "beyond 2147483647");
  CHECK_REFUSED(ValueError, adaptive_avg_pool2d(x, {2, 0}), "adaptive_avg_pool2d", "size 0");
  CHECK_REFUSED(LimitError, adaptive_avg_pool1d(zeros({3, 4}), most), "adaptive_avg_pool1d", "size 9223372036854775807",
                "beyond 2147483647");
  CHECK(max_pool2d(x, {2147483647, 2}, {.stride = Size2d{1, 2}, .padding = {1073741823, 0}}).shape() ==
        Shape{2, 3, 4, 2});
}

TEST_CASE("interpolation refuses what does not fit") {
  const Tensor x = zeros({1, 3, 4, 5});
  CHECK_REFUSED(ShapeError, interpolate(zeros({3, 4, 5}), {.size = Size2d{2}}), "interpolate", "(B, C, H, W)",
                "above 0", "[3, 4, 5]", "[1, 3, 4, 5] would fit");
  CHECK_REFUSED(ShapeError, interpolate(zeros({1, 3, 0, 5}), {.size = Size2d{2}}), "interpolate", "(B, C, H, W)",
                "above 0", "[1, 3, 0, 5]");
  CHECK_REFUSED(ValueError, interpolate(x, {}), "interpolate", "needs either", "scale_factor");
  CHECK_REFUSED(ValueError, interpolate(x, {.size = Size2d{2}, .scale_factor = Scale2d{2}}), "interpolate", "size",
                "scale_factor");
  CHECK_REFUSED(ValueError, interpolate(x, {.scale_factor = Scale2d{1, -2}}), "interpolate", "scale_factor -2");
  CHECK_REFUSED(ShapeError, interpolate(x, {.scale_factor = Scale2d{1, 0.1}}), "interpolate", "size 4 x 0",
                "[1, 3, 4, 5]");
  CHECK_REFUSED(LimitError, interpolate(x, {.scale_factor = Scale2d{1, 1e300}}), "interpolate", "4 x 5",
                "4 x 2147483648", "2147483647");
}

}  // namespace xgrad::testing
