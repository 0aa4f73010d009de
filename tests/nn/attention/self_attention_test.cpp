// Self-attention from one map, and the gated feed-forward.
#include "../support.h"

#include <xgrad/core/graph/record.h>
#include <xgrad/nn/attention/multi_head_attention.h>
#include <xgrad/nn/layers/swiglu.h>
#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/arrange/join.h>
#include <xgrad/ops/arrange/slice.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/products/matmul.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE("Self-attention from one map is attention with three") {
  const MultiHeadAttention one{root, 8, 2, {.bias = true, .packed = true}};
  const MultiHeadAttention three{root, 8, 2, {.bias = true}};
  const Linear* maps[] = {&*three.q, &*three.k, &*three.v};
  for (std::int64_t i = 0; i < 3; ++i) {
    maps[i]->weight.assign(one.qkv->weight.value()[{slice(8 * i, 8 * i + 8)}]);
    maps[i]->bias.assign(one.qkv->bias.value()[{slice(8 * i, 8 * i + 8)}]);
  }
  three.o.weight.assign(one.o.weight.value());
  three.o.bias.assign(one.o.bias.value());
  const Tensor x = normal({2, 5, 8});
  check_close(one(x).value(), three(x).value());
  AttentionRecorder recorder;
  check_close(one(x, causal).value(), three(x, causal).value());
  check_close(recorder.records()[0].weights, recorder.records()[1].weights);
  CHECK(to_string(one).starts_with("MultiHeadAttention 8, 2 heads"));
}

TEST_CASE("With fewer heads of keys, and turned by positions, attention from one map is attention with three, too") {
  for (const std::optional<double> theta : {std::optional<double>(), {50.}}) {
    const MultiHeadAttention one{root, 8, 4, {.kv_heads = 2, .packed = true, .rotary_theta = theta}};
    const MultiHeadAttention three{root, 8, 4, {.kv_heads = 2, .rotary_theta = theta}};
    const Array rows = one.qkv->weight.value();
    three.q->weight.assign(rows[{slice(0, 8)}]);
    three.k->weight.assign(rows[{slice(8, 12)}]);
    three.v->weight.assign(rows[{slice(12, 16)}]);
    three.o.weight.assign(one.o.weight.value());
    const Tensor x = normal({2, 5, 8});
    check_close(one(x, causal).value(), three(x, causal).value());
    if (!theta) check_close(one(x).value(), three.attend(x, three.remember(x, x)).value());
  }
}

TEST_CASE("Step by step, in pieces of any size, self-attention is what it is at once") {
  using Options = MultiHeadAttentionOptions;
  for (const Options& options :
       {Options{.bias = true, .packed = true}, Options{.kv_heads = 2, .packed = true}, Options{.kv_heads = 2},
        Options{.bias = true, .kv_heads = 1, .packed = true, .rotary_theta = 100.},
        Options{.bias = true, .kv_heads = 1, .rotary_theta = 100.},
        Options{.bias = true,
        .packed = true,
        .rotary_theta = 10.,
        .rotary_layout = RotaryLayout::interleaved,
        .rotary_scaling = RotaryScaling{.context = 20}}}) {
    for (const std::optional<std::int64_t> seen : {std::optional<std::int64_t>(), {1}, {3}, {9}}) {
      const MultiHeadAttention attn{root, 16, 4, options};
      const Tensor x = normal({2, 9, 16});
      const Array expected = attn(x, seen ? window({.before = *seen - 1}) : causal).value();
      for (const bool recorded : {true, false}) {
        std::optional<NoGrad> off;
        if (!recorded) off.emplace();
        KeyValueCache past(2);
        Tensors pieces;
        for (const auto& [from, to] : {std::pair{0, 3}, {3, 4}, {4, 5}, {5, 9}}) {
          pieces.push_back(attn.extend(x[{_, slice(from, to)}], past, seen));
        }
        check_close(concat(pieces, 1).value(), expected);
        AttentionRecorder recorder;
        past.rewind(8);
        check_close(attn.extend(x[{_, slice(8, 9)}], past, seen).value(), expected[{_, slice(8, 9)}]);
        CHECK(recorder.records()[0].weights.shape() == Shape{2, 4, 1, seen.value_or(9)});
      }
    }
  }
}

TEST_CASE("Self-attention and SwiGlu have gradients of differences, to the second order") {
  const MultiHeadAttention attn{root, 8, 4, {.bias = true, .kv_heads = 2, .packed = true, .rotary_theta = 100.}};
  check_module_gradients(attn, [&](const Tensors& xs) { return attn(xs[0], causal); }, {normal({2, 3, 8})});
  check_gradients([&](const Tensors& xs) { return attn(xs[0], causal); }, {normal({1, 3, 8})});
  check_gradients(
      [&](const Tensors& xs) {
        KeyValueCache past;
        return concat({attn.extend(xs[0], past), attn.extend(xs[1], past)}, 1);
      },
      {normal({1, 2, 8}), normal({1, 1, 8}, 2)});
  const SwiGlu ffn{root, {.in = 4, .hidden = 6, .out = 3}};
  check_module_gradients(ffn, [&](const Tensors& xs) { return ffn(xs[0]); }, {normal({2, 3, 4})});
  check_gradients([&](const Tensors& xs) { return ffn(xs[0]); }, {normal({3, 4})});
}

TEST_CASE("SwiGlu is its formula") {
  const SwiGlu ffn{root, {.in = 4, .hidden = 6}};
  const Tensor x = normal({5, 4}), gate = linear(x, ffn.w1.weight);
  check_close(ffn(x).value(), linear(gate * sigmoid(gate) * linear(x, ffn.w3.weight), ffn.w2.weight).value());
  CHECK(to_string(ffn).starts_with("SwiGlu 4 -> 6 -> 4"));
  CHECK(ffn.num_parameters() == 3 * 24);
  CHECK(SwiGlu(root, {.in = 4, .hidden = 6, .bias = true}).num_parameters() == 3 * 24 + 16);
}

TEST_CASE("Self-attention and SwiGlu refuse bad settings and inputs") {
  check_refused<ValueError>({
      {[] { MultiHeadAttention(root, 8, 3); }, {"attention: dim 8 does not divide by 3 heads"}},
      {[] { MultiHeadAttention(root, 8, 4, {.kv_heads = 3}); }, {"attention: 4 heads do not divide by 3 kv_heads"}},
      {[] { MultiHeadAttention(root, 8, 4, {.kv_heads = 0}); }, {"MultiHeadAttention: kv_heads 0 is not positive"}},
      {[] { MultiHeadAttention(root, 6, 2, {.rotary_theta = 100.}); }, {"attention: heads of 3 columns"}},
      {[] { MultiHeadAttention(root, 6, 2, {.dropout = 2}); }, {"MultiHeadAttention: dropout 2 is not in [0, 1]"}},
      {[] { SwiGlu(root, {.in = 4}); }, {" 0 is not positive"}}
  });
  const MultiHeadAttention attn{root, 8, 2, {.packed = true}};
  CHECK_THROWS_AS(attn(zeros({2, 3, 7})), ShapeError);
  CHECK(error_of<ValueError>([&] {
          attn(zeros({2, 3, 8}), zeros({2, 3, 8}), zeros({2, 3, 8}));
        }).starts_with("attention: packed maps are for self-attention"));
  CHECK_THROWS_AS(attn.remember(zeros({2, 3, 8}), zeros({2, 3, 8})), ValueError);
  CHECK(error_of<ValueError>([] { MultiHeadAttention(root, 8, 2, {.key = 5, .packed = true}); }) ==
        "attention: packed maps have one width, dim 8, not query 0, key 5, value 0");
  const MultiHeadAttention turned{root, 8, 2, {.rotary_theta = 100.}};
  CHECK(error_of<ValueError>([&] {
          turned.remember(zeros({2, 3, 8}), zeros({2, 3, 8}));
        }).starts_with("attention: rotary positions"));
  KeyValueCache past;
  attn.extend(zeros({2, 3, 8}), past);
  CHECK_THROWS_AS(attn.extend(zeros({1, 1, 8}), past), ShapeError);
  CHECK(past.length() == 3);
}

}  // namespace
}  // namespace xgrad::testing
