// Sums of many numbers in float: means of windows, products over long axes, and gradients to weights.
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
  for (const Real g : gradient.value()) CHECK(std::abs(g / expected - 1) <= 1e-5);
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

// Every number of y is the sum of `count` times `term`.
void check_sums(const Tensor& y, std::int64_t count, double term) {
  const double expected = term * static_cast<double>(count);
  for (const Real sum : y.value()) CHECK(std::abs(sum / expected - 1) <= 1e-5);
}

TEST_CASE("products over long axes add up as many terms as there are") {
  const double a = 0.1f, b = 0.07f;
  for (const std::int64_t count : {1000, 100'000, 1'000'000, 10'000'000}) {
    CAPTURE(count);
    const Tensor x = full({count}, 0.1f), y = full({count}, 0.07f);
    check_sums(dot(x, y), count, a * b);
    check_sums(einsum("i,i->", {x, y}), count, a * b);
    const Tensor weight = variable(ones({1, 1}));
    check_sums(grad(linear(reshape(x, {-1, 1}), weight), {weight}, {.seed = reshape(y, {-1, 1})})[0], count, a * b);
  }
  const std::int64_t count = 1'000'000;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const auto factor = [&](std::int64_t side, bool transposed, Real value) {
        return full(transposed ? Shape{count, side} : Shape{side, count}, value);
      };
      for (const std::int64_t rows : {1, 3, 9}) {
        for (const std::int64_t columns : {1, 2, 10}) {
          CAPTURE(str(rows, " ", columns, " ", transpose_a, transpose_b));
          check_sums(matmul(factor(rows, transpose_a, 0.1f), factor(columns, !transpose_b, 0.07f),
                            {.transpose_a = transpose_a, .transpose_b = transpose_b}),
                     count, a * b);
        }
      }
    }
  }
  check_sums(matmul(full({2, 1, count}, 0.1f), full({2, count, 1}, 0.07f)), count, a * b);
}

TEST_CASE("the gradients of a layer norm's weights and of a bias add up as many rows as there are") {
  const std::int64_t count = 2'000'000;
  for (const std::int64_t width : {1, 2, 5}) {
    CAPTURE(width);
    const Tensor gamma = variable(ones({width})), beta = variable(ones({width}));
    const Tensor y = layer_norm(full({count, width}, 1), gamma, beta);
    check_sums(grad(y, {beta}, {.seed = full(y.shape(), 0.1f)})[0], count, 0.1f);
    const Tensor weight = ones({width, 1}), bias = variable(ones({width}));
    const Tensor z = linear(ones({count, 1}), weight, bias);
    check_sums(grad(z, {bias}, {.seed = full(z.shape(), 0.1f)})[0], count, 0.1f);
  }
  // The numbers of a row of two are -1 and 1.
  const Tensor gamma = variable(ones({2}));
  const Tensor y = layer_norm(broadcast_to(tensor({-100., 100.}), {count, 2}), gamma);
  check_sums(grad(y, {gamma}, {.seed = broadcast_to(tensor({-0.1, 0.1}), {count, 2})})[0], count, 0.1f);
}

TEST_CASE("batch norm, and its gradients, add up as many rows as there are") {
  const std::int64_t count = 1'000'000;
  const Tensor gamma = variable(ones({1})), beta = variable(ones({1}));
  const Tensor x = concat({full({count, 1}, 0.9f), full({count, 1}, 1.1f)});
  const BatchNormed normed = batch_norm(x, gamma, beta);
  check_sums(Tensor(normed.mean), 1, (double{0.9f} + double{1.1f}) / 2);
  const Tensor seed = concat({full({count, 1}, -0.1f), full({count, 1}, 0.1f)});
  check_sums(grad(normed.y, {gamma}, {.seed = seed, .retain_graph = true})[0], 2 * count, 0.1f * (1 - 0.0005));
  check_sums(grad(normed.y, {beta}, {.seed = full(seed.shape(), 0.1f)})[0], 2 * count, 0.1f);
}

TEST_CASE("windows save 147,517,440 operations of global attention on a map of 28 x 28 with 128 channels") {
  // 4 hw C^2 + 2 (hw)^2 C against 4 hw C^2 + 2 M^2 hw C (Liu et al., "Swin Transformer", 2021).
  constexpr std::int64_t hw = 28 * 28, C = 128, M = 7;
  const Tensor x = randn({1, hw, C}), qkv = variable((randn({3 * C, C}) / 100).value()),
               out = variable((randn({C, C}) / 100).value());
  const auto attended = [&](const Tensor& tokens) { return linear(multi_head_attention(linear(tokens, qkv), 4), out); };
  const Tensor global = attended(x), windows = attended(reshape(x, {hw / (M * M), M * M, C}));
  CHECK(count_operations({global}) == 4 * hw * C * C + 2 * hw * hw * C);
  CHECK(count_operations({windows}) == 4 * hw * C * C + 2 * M * M * hw * C);
  CHECK(count_operations({global}) - count_operations({windows}) == 147'517'440);
}

}  // namespace
}  // namespace xgrad::testing
