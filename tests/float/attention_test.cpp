// Attention in float, where digits and range are short.
#include <cmath>

#include <xgrad/nn/attention/masks.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

TEST_CASE("The weights that the backward pass computes again are the forward pass's to the last bit") {
  constexpr std::int64_t S = 100;
  const Tensor one = eye(S);  // so that the result is the weights
  for (const float magnitude : {1.f, 300.f, 1e4f, 1e6f, 1e7f}) {
    for (const std::int64_t T : {1, 2}) {
      CAPTURE(magnitude);
      CAPTURE(T);
      const Tensor q(normal({T, 8}, 1)), k(normal({S, 8}, 2)), v = variable(one.value());
      const Tensor weights = scaled_dot_product_attention(q, k, v, {.scale = magnitude});
      Array seed({T, S}, Real(0));
      seed.mutable_data()[7] = 1;
      const Tensor again = grad(weights, {v}, {.seed = seed})[0];
      CHECK(equal(narrow(again, 1, 7, 1).value().reshaped({S}), weights[{0}].value()));
    }
  }
}

TEST_CASE("Weights in float are right beside scores of any size") {
  for (const std::int64_t S : {3, 100}) {
    for (const float offset : {0.f, 500.f, 1e4f, 1e6f, 1e7f, -1e7f}) {
      CAPTURE(offset);
      Array bias({1, S}, -infinity), exact({S, 1}, Real(0));
      const double total = 1 + std::exp(1.) + std::exp(2.);
      for (std::int64_t i = 0; i < 3; ++i) {
        bias.mutable_data()[i] = offset + static_cast<float>(i);
        exact.mutable_data()[i] = static_cast<float>(std::exp(static_cast<double>(i)) / total);
      }
      const Tensor q(Array({1, 2}, Real(0))), k(normal({S, 2})), v = variable(normal({S, 1}, 3));
      const Tensor y = scaled_dot_product_attention(q, k, v, {.mask = {.bias = Tensor(bias)}});
      for (const bool create_graph : {false, true}) {
        check_close(grad(y, {v}, {.create_graph = create_graph, .retain_graph = true})[0].value(), exact, 2e-7);
      }
    }
  }
}

TEST_CASE("A mask by position over more keys than float can count is refused") {
  const std::int64_t S = (std::int64_t{1} << 24) + 1;
  const Tensor q(Array(Shape{1, 1, 0})), k(Array(Shape{1, S, 0}));
  for (const AttentionMask& mask : {AttentionMask{.causal = true}, nn::window({}), nn::padding(Index({1}, S))}) {
    CHECK(error_of<LimitError>([&] { multi_head_attention(q, k, k, 1, {.mask = mask}); }) ==
          "multi_head_attention: 16777217 keys: this mask cannot tell positions beyond 16777216 apart");
  }
  CHECK(multi_head_attention(q, k, k, 1).shape() == Shape{1, 1, 0});
}

}  // namespace
}  // namespace xgrad::testing
