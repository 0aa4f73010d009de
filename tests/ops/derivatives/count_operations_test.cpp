// Operations of recorded graphs, counted by hand.

#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/pool.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

Tensor leaf(const Shape& shape) { return variable(normal(shape)); }

}  // namespace

TEST_CASE("products count m n k, however they are transposed and broadcast, and each once") {
  const Tensor a = leaf({5, 2, 3}), b = leaf({3, 7});
  const Tensor y = matmul(a, b);
  CHECK(count_operations({y}) == 5 * 2 * 3 * 7);
  CHECK(count_operations({y, y * y, sum(y)}) == 5 * 2 * 3 * 7);
  CHECK(count_operations({matmul(transpose(a), leaf({2, 7}), {})}) == 5 * 2 * 3 * 7);
  CHECK(count_operations({matmul(a, leaf({2, 7}), {.transpose_a = true})}) == 5 * 2 * 3 * 7);
  CHECK(count_operations({matmul(leaf({1, 2, 3}), leaf({4, 7, 3}), {.transpose_b = true})}) == 4 * 2 * 3 * 7);
  CHECK(count_operations({matmul(leaf({3}), b)}) == 3 * 7);
  CHECK(count_operations({matmul(a, leaf({3}))}) == 5 * 2 * 3);
  CHECK(count_operations({matmul(leaf({3}), leaf({3}))}) == 3);
  CHECK(count_operations({matmul(leaf({0, 3}), b)}) == 0);
  CHECK(count_operations({linear(a, leaf({7, 3}), leaf({7}))}) == 5 * 2 * 3 * 7);
  CHECK(count_operations({tanh(a) + layer_norm(a)}) == 0);
  CHECK(count_operations(Tensors{}) == 0);
  CHECK(count_operations({matmul(a.detach(), b.detach())}) == 0);
}

TEST_CASE("attention counts scores and weighted values, masks or not") {
  const Tensor q = leaf({2, 5, 8}), k = leaf({2, 7, 8}), v = leaf({2, 7, 12});
  CHECK(count_operations({multi_head_attention(q, k, v, 4)}) == 2 * 5 * 7 * (8 + 12));
  CHECK(count_operations({multi_head_attention(q, k, v, 4, {.mask = {.causal = true}})}) == 2 * 5 * 7 * (8 + 12));
  CHECK(count_operations({multi_head_attention(q, k, v, 4, {.mask = {.bias = leaf({5, 7})}})}) == 2 * 5 * 7 * (8 + 12));
  CHECK(count_operations({multi_head_attention(leaf({2, 5, 24}), 2)}) == 2 * 5 * 5 * 16);
  CHECK(count_operations({multi_head_attention(leaf({2, 5, 24}), 2, {.mask = {.bias = leaf({5, 5})}})}) ==
        2 * 5 * 5 * 16);
  const Tensor heads = leaf({2, 3, 5, 4});
  CHECK(count_operations({scaled_dot_product_attention(heads, heads, heads)}) == 2 * 3 * 5 * 5 * 8);
}

TEST_CASE("convolutions count the kernel's numbers for each number of the result") {
  const Tensor x = leaf({2, 4, 9, 9}), w = leaf({6, 2, 3, 3});
  const Tensor y = conv2d(x, w, {}, {.stride = 2, .groups = 2});
  REQUIRE(y.shape() == Shape{2, 6, 4, 4});
  CHECK(count_operations({y}) == 2 * 6 * 4 * 4 * 2 * 3 * 3);
  const Tensors g = grad(y, {x, w}, {.seed = leaf(y.shape()), .create_graph = true});
  CHECK(count_operations({g[0]}) == 2 * 6 * 4 * 4 * 2 * 3 * 3);
  CHECK(count_operations({g[1]}) == 2 * 6 * 4 * 4 * 2 * 3 * 3);
  CHECK(count_operations({conv1d(leaf({2, 3, 8}), leaf({5, 3, 3}))}) == 2 * 5 * 6 * 3 * 3);
  CHECK(count_operations({conv_transpose2d(y, w, {}, {.stride = 2, .groups = 2})}) == 2 * 2 * 6 * 4 * 4 * 2 * 3 * 3);
}

TEST_CASE("recurrences count the products of their states") {
  const nn::LSTM lstm(nn::root, 3, 4);
  CHECK(count_operations({lstm(leaf({2, 5, 3})).output}) == 2 * 5 * (3 * 16 + 4 * 16));
  const nn::GRU gru(nn::root, 3, 4);
  CHECK(count_operations({gru(leaf({2, 5, 3})).output}) == 2 * 5 * (3 * 12 + 4 * 12));
}

TEST_CASE("an operation counts what it tells, for as long as its node lives, and without recording nothing") {
  const Tensor x = leaf({3});
  const auto own = [&](auto... sizes) {
    return record("own", x.value(), wrt(x, [](const Tensor& gy) { return gy; }), attribute("k", 7), multiply_adds(sizes...));
  };
  const Tensor y = own(2, 3, std::int64_t{5});
  CHECK(count_operations({y}) == 30);
  CHECK(detail::Engine::node(y)->multiply_adds() == 30);
  CHECK(detail::Engine::node(x)->multiply_adds() == 0);
  CHECK(detail::Engine::node(y)->shape() == Shape{3});
  grad(sum(y), {x});
  CHECK(count_operations({y}) == 30);
  CHECK(count_operations({own(4) * own(0)}) == 4);
  // Counts beyond std::int64_t are clamped to its maximum.
  CHECK(count_operations({own(most, 2)}) == most);
  CHECK_THROWS_AS(count_operations({own(most, 2) + own(1)}), LimitError);
  NoGrad off;
  CHECK(count_operations({own(2)}) == 0);
}

TEST_CASE("the nodes of products give back all that they took") {
  const Tensor a = leaf({4}), b = leaf({4});
  const auto step = [&] { grad(dot(a, b), {a, b}); };  // a node whose count needs a larger block than its shape does
  step();
  const PoolStats before = pool_stats();
  const std::int64_t nodes = live_node_count();
  for (int i = 0; i < 100; ++i) step();
  CHECK(live_node_count() == nodes);
  CHECK(pool_stats().bytes_in_use == before.bytes_in_use);
  if (testing::pool_keeps_blocks()) CHECK(pool_stats().system_requests == before.system_requests);
}
