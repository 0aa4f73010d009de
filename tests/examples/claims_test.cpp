// The errata of docs/topics/claims.md: each correct form, by the library's layers. Derivations of other pages, each step in numbers.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include <xgrad/xgrad.h>

namespace claims {
namespace {

using namespace xgrad;

TEST_CASE("errata: patch merging halves 4C channels to 2C, and W_2 is the transpose of W_1's shape") {
  const nn::PatchMerging merging{nn::root, 96};
  CHECK(merging.reduction.weight.shape() == Shape{2 * 96, 4 * 96});
  CHECK(merging(zeros({1, 4, 6, 96})).shape() == Shape{1, 2, 3, 192});
  const nn::Mlp mlp{nn::root, {.in = 512, .hidden = 2048}};
  CHECK(transpose(mlp.fc1.weight).shape() == Shape{512, 2048});  // (in, out), as texts have it
  CHECK(transpose(mlp.fc2.weight).shape() == Shape{2048, 512});
}

TEST_CASE("errata: attention over h w tokens costs 4 h w C^2 + 2 (h w)^2 C") {
  constexpr std::int64_t h = 3, w = 5, C = 8;
  const nn::MultiHeadAttention attn{nn::root, C, 2};
  CHECK(count_operations({attn(randn({1, h * w, C}))}) == 4 * h * w * C * C + 2 * (h * w) * (h * w) * C);
}

TEST_CASE("errata: the scale has the width of a head") {
  // Two heads of width 2 are two products with the scale 1/sqrt(2), and not 1/sqrt(4).
  const Tensor x = randn({1, 3, 4});
  Tensors heads;
  for (std::int64_t from : {0, 2}) {
    const Tensor part = x[{_, _, slice(from, from + 2)}];
    heads.push_back(matmul(softmax(matmul(part, part, {.transpose_b = true}) / std::sqrt(Real(2))), part));
  }
  CHECK(max(abs(multi_head_attention(x, x, x, 2) - concat(heads, -1))).item() < 1e-5);
}

TEST_CASE("derivations: Gaussian kernels divided by their sum are a softmax") {
  const Tensor u = 1 - tensor({0, 1, 3});
  const Tensor kernels = exp(square(u) * -0.5) / std::sqrt(2 * std::numbers::pi);
  const Tensor divided = kernels / sum(kernels);
  CHECK(max(abs(divided - softmax(square(u) * -0.5))).item() < 1e-6);
  CHECK(max(abs(kernels - tensor({0.242, 0.399, 0.054}))).item() < 5e-4);
  CHECK(max(abs(divided - tensor({0.348, 0.574, 0.078}))).item() < 5e-4);
}

TEST_CASE("derivations: a norm takes away what shifts and stretches; with detached statistics g / sigma is left") {
  const Tensor x = variable(randn({3, 7}).value(), "x"), g = randn({3, 7});
  const auto of_rows = [](const Tensor& each) { return mean(each, -1, {.keepdim = true}); };
  const Tensor mu = of_rows(x), sigma = sqrt(var(x, -1, {.keepdim = true, .correction = 0}));
  const Tensor y = ((x - mu) / sigma).detach(), through = (g - of_rows(g) - y * of_rows(g * y)) / sigma.detach();
  const auto gradient = [&](const Tensor& shift, const Tensor& scale) {
    return grad(sum((x - shift) / scale * g), {x}, {.retain_graph = true})[0];
  };
  CHECK(max(abs(gradient(mu, sigma) - through)).item() < 1e-4);
  CHECK(max(abs(gradient(mu.detach(), sigma.detach()) - g / sigma.detach())).item() < 1e-4);
}

TEST_CASE("derivations: two tokens of a window read the row of their relative position") {
  constexpr std::int64_t M = 3;
  const nn::SwinAttention attn{nn::root, 4, 2, 0, {.window = M}};
  CHECK(attn.relative_position_bias_table.shape() == Shape{(2 * M - 1) * (2 * M - 1), 2});
  const Array rows = attn.relative_position_index.value();
  for (std::int64_t query = 0; query < M * M; ++query) {
    for (std::int64_t key = 0; key < M * M; ++key) {
      const std::int64_t down = query / M - key / M, right = query % M - key % M;
      CHECK(rows.data()[M * M * query + key] == (2 * M - 1) * (down + M - 1) + right + M - 1);
    }
  }
}

}  // namespace
}  // namespace claims
