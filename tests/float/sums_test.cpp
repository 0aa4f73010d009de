// Sums of many numbers in float: means of windows, and gradients to kernels.
#include <doctest/doctest.h>

#include <xgrad/xgrad.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

TEST_CASE("means of ones in windows of any size are 1") {
  for (std::int64_t n = 1; n <= 300; ++n) {
    CAPTURE(n);
    const Tensor column = ones({1, 1, n, 1}), row = ones({1, 1, n}), square = ones({1, 1, n, 7});
    CHECK(avg_pool2d(column, {n, 1}).item() == 1);
    CHECK(avg_pool1d(row, n).item() == 1);
    CHECK(adaptive_avg_pool2d(square, 1).item() == 1);
    CHECK(avg_pool2d(square, {n, 7}).item() == 1);
    CHECK(adaptive_avg_pool1d(row, 1).item() == 1);
  }
}

TEST_CASE("the mean of a large picture is right to a few roundings") {
  const Real value = 0.1f;
  for (const Shape& shape : {Shape{1, 1, 100'000, 3}, Shape{1, 1, 3, 100'000}, Shape{1, 1, 700, 700}}) {
    CAPTURE(shape);
    CHECK(std::abs(adaptive_avg_pool2d(full(shape, value), 1).item() - value) <= 1e-6f * value);
  }
}

// The gradient to a kernel of one place, of images that are `value` everywhere, is the sum over their pixels.
void check_kernel_gradient(const Shape& image, const Shape& kernel) {
  CAPTURE(image);
  const Real value = 0.1f;
  const Tensor x = full(image, value), w = variable(ones(kernel));
  const Tensor y = kernel.rank() == 4 ? conv2d(x, w) : conv1d(x, w);
  const double expected = static_cast<double>(value) * static_cast<double>(x.size() / x.dim(1));
  const Tensor gradient = grad(sum(y), {w})[0];
  for (const Real g : gradient.value()) CHECK(std::abs(g / expected - 1) <= 1e-4);
}

TEST_CASE("the gradient to a convolution's kernel adds up as many pixels as there are") {
  for (const std::int64_t in : {1, 2}) {
    for (const std::int64_t out : {1, 3}) {
      check_kernel_gradient({1, in, 1000, 1000}, {out, in, 1, 1});
      check_kernel_gradient({40, in, 160, 160}, {out, in, 1, 1});
      check_kernel_gradient({1, in, 1'000'000}, {out, in, 1});
    }
  }
}

}  // namespace
}  // namespace xgrad::testing
