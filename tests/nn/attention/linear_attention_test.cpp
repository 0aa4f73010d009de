// LinearAttention, the layer.
#include "../support.h"

#include <xgrad/nn/attention/linear_attention.h>
#include <xgrad/nn/attention/multi_head_attention.h>
#include <xgrad/ops/arrange/join.h>
#include <xgrad/ops/arrange/slice.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("LinearAttention has the parameters of MultiHeadAttention and maps around linear_attention") {
  const LinearAttention attn{root, 8, 2, {.key = 5, .value = 3}};
  const MultiHeadAttention softmax_form{root, 8, 2, {.key = 5, .value = 3}};
  softmax_form.load_state_dict(attn.state_dict());
  const Tensor x(normal({2, 4, 8}, 1)), k(normal({2, 6, 5}, 2)), v(normal({2, 6, 3}, 3));
  const Tensor y = attn(x, k, v, padding(Index({2}, {3, 6})));
  check_close(y.value(),
              attn.o(linear_attention(attn.q(x), attn.k(k), attn.v(v), 2, {.lengths = Index({2}, {3, 6})})).value());
  CHECK(difference(y.value(), softmax_form(x, k, v, padding(Index({2}, {3, 6}))).value()) > 1e-3);
}

TEST_CASE("LinearAttention step by step gives what it gives at once") {
  const LinearAttention attn{root, 8, 2, {.bias = true}};
  const Tensor x(normal({2, 6, 8}));
  const Tensor whole = attn(x, causal);
  LinearAttentionState past;
  Tensors steps;
  for (std::int64_t t = 0; t < 6; ++t) steps.push_back(attn.extend(x[{_, slice(t, t + 1)}], past));
  check_close(concat(steps, 1).value(), whole.value());
  CHECK(past.sums.shape() == Shape{2, 2, 4, 5});
}

TEST_CASE("LinearAttention's gradients are those of differences, and it refuses what it cannot do") {
  manual_seed(1);  // no feature is so near the bend of elu that a difference would go across it
  const LinearAttention attn{root, 4, 2, {.bias = true}};
  check_module_gradients(attn, [&](const Tensors& x) { return attn(x[0], causal); }, {normal({2, 3, 4})});
  const Tensor x(normal({2, 3, 4}));
  CHECK_THROWS_AS(LinearAttention(root, 4, 3), ValueError);
  CHECK(error_of<ValueError>([&] { attn(x, window({.before = 1})); }) ==
        "linear_attention: a mask may be causal and have lengths, nothing else");
  CHECK_THROWS_AS(attn(x, {.bias = x}), ValueError);
}

}  // namespace
}  // namespace xgrad::testing
