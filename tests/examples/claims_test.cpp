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

}  // namespace
}  // namespace claims
