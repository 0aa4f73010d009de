// The errata of docs/topics/claims.md: each correct form, by the library's layers.
#include <doctest/doctest.h>

#include <cmath>

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

TEST_CASE("errata: q k is the score, and the weight is its softmax; the scale has the width of a head") {
  const nn::DotProductAttention product{nn::root, {.scale = 1}};
  const Tensor q = randn({1, 3, 4}), k = randn({1, 5, 4}), score = product.score(q, k);
  CHECK(max(abs(score - matmul(q, k, {.transpose_b = true}))).item() < 1e-5);
  CHECK(max(abs(sum(score, -1) - 1)).item() > 0.1);
  CHECK(max(abs(sum(product.weights(q, k), -1) - 1)).item() < 1e-5);
  // Two heads of width 2 are two products with the scale 1/sqrt(2), and not 1/sqrt(4).
  const Tensor x = randn({1, 3, 4});
  Tensors heads;
  for (std::int64_t from : {0, 2}) {
    const Tensor part = x[{_, _, slice(from, from + 2)}];
    heads.push_back(matmul(softmax(matmul(part, part, {.transpose_b = true}) / std::sqrt(Real(2))), part));
  }
  CHECK(max(abs(multi_head_attention(x, x, x, 2) - concat(heads, -1))).item() < 1e-5);
}

TEST_CASE("errata: a causal mask keeps the lower triangle with its diagonal") {
  const Mask hidden = nn::causal_mask(5);
  for (std::int64_t t = 0; t < 5; ++t) {
    for (std::int64_t s = 0; s < 5; ++s) CHECK(hidden.at({t, s}) == (s > t));
  }
}

TEST_CASE("errata: sine and cosine of a pair of columns have one frequency; 20 x 512 has sines left, cosines right") {
  const Array p = nn::sinusoids(20, 512), halves = nn::sinusoids(20, 512, nn::Sinusoids::concatenated);
  REQUIRE(halves.shape() == Shape{20, 512});
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t j = 0; j < 256; ++j) {
      const double sine = halves.at({i, j}), cosine = halves.at({i, 256 + j});
      const double angle = static_cast<double>(i) / std::pow(10000.0, static_cast<double>(j) / 256);
      REQUIRE(std::abs(sine - std::sin(angle)) < 1e-5);
      REQUIRE(std::abs(cosine - std::cos(angle)) < 1e-5);
      REQUIRE(p.at({i, 2 * j}) == halves.at({i, j}));
      REQUIRE(p.at({i, 2 * j + 1}) == halves.at({i, 256 + j}));
    }
  }
}

}  // namespace
}  // namespace claims
