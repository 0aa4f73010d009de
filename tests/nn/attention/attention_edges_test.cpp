// The layers made of attention where sizes are 0 or 1, and the extremes of their arguments.

#include <xgrad/xgrad.h>

#include "support/orders.h"

namespace xgrad::testing {
namespace {

using namespace nn;
using namespace nn::pytorch;

// Calls f(B, T, S) for all sizes from 0 to 2.
template <class F>
void each_size(const F& f) {
  for (const std::int64_t B : {0, 1, 2}) {
    for (const std::int64_t T : {0, 1, 2}) {
      for (const std::int64_t S : {0, 1, 2}) {
        CAPTURE(str("B ", B, " T ", T, " S ", S));
        f(B, T, S);
      }
    }
  }
}

TEST_CASE("Attention layers of sizes 0 and 1, with first and second gradients") {
  const MultiHeadAttention attn{root, 4, 2};
  const LinearAttention linear{root, 4, 2};
  const SelfAttention self{root, 4, 2};
  const Tensors of_attn = attn.parameters(), of_linear = linear.parameters(), of_self = self.parameters();
  each_size([&](std::int64_t B, std::int64_t T, std::int64_t S) {
    const Array x = normal({B, T, 4}), y = normal({B, S, 4}, 2);
    for (const AttentionMask& mask : {AttentionMask{}, padding(Index({B}, S / 2)), padding(Index({B, T}, S / 2)),
                                      nn::window({.before = 1}), causal}) {
      check_edge([&](const Tensors& t) { return attn(t[0], t[1], t[1], mask); }, {x, y}, {B, T, 4}, of_attn);
    }
    check_edge([&](const Tensors& t) { return linear(t[0], t[1], t[1], padding(Index({B}, S / 2))); }, {x, y},
               {B, T, 4}, of_linear);
    check_edge([&](const Tensors& t) { return linear(t[0], causal); }, {x}, {B, T, 4}, of_linear);
    check_edge([&](const Tensors& t) { return self(t[0], causal); }, {x}, {B, T, 2}, of_self);
    check_edge([&](const Tensors& t) { return self.columns(t[0]); }, {normal({B, 4, T})}, {B, 2, T}, of_self);
    check_edge(
        [&](const Tensors& t) {
          KeyValueCache past;
          LinearAttentionState sums;
          attn(t[1], past), linear(t[1], sums);
          return attn(t[0], past) + linear(t[0], sums);
        },
        {x, y}, {B, T, 4}, of_attn);
  });
}

TEST_CASE("Attention pooling of sizes 0 and 1, with first and second gradients") {
  const DotProductAttention dot{root};
  const BandAttention windowed{root, {.before = 1, .after = most}};
  const BilinearAttention bilinear{root, {.query = 3, .key = 3}};
  const AdditiveAttention additive{root, {.query = 3, .key = 3, .hidden = 2}};
  const GaussianAttention gaussian{root, {.w = 0.5, .trained = true}};
  const AttentionPooling* const kinds[] = {&dot, &windowed, &bilinear, &additive, &gaussian};
  for (const AttentionPooling* attn : kinds) {
    CAPTURE(attn->description());
    const Tensors parameters = attn->parameters();
    each_size([&](std::int64_t B, std::int64_t T, std::int64_t S) {
      if (attn == &windowed && T != S) return;
      const Array q = normal({B, T, 3}), k = normal({B, S, 3}, 2);
      for (const std::int64_t e : {0, 1}) {
        for (const AttentionMask& mask : {AttentionMask{}, padding(Index({B}, S / 2)), causal}) {
          check_edge([&](const Tensors& t) { return (*attn)(t[0], t[1], t[2], mask); }, {q, k, normal({B, S, e}, 3)},
                     {B, T, e}, parameters);
        }
      }
      check_edge([&](const Tensors& t) { return attn->weights(t[0], t[1], causal); }, {q, k}, {B, T, S}, parameters);
    });
  }
}

TEST_CASE("MultiheadAttention of sizes 0 and 1, with first and second gradients") {
  const MultiheadAttention plain{root, 4, 2},
      added{root, 4, 2, {.add_bias_kv = true, .add_zero_attn = true, .vdim = 3}},
      second{root, 4, 2, {.batch_first = false}};
  each_size([&](std::int64_t B, std::int64_t T, std::int64_t S) {
    const Array q = normal({B, T, 4}), k = normal({B, S, 4}, 2), v = normal({B, S, 3}, 3);
    for (const bool need_weights : {false, true}) {
      for (const bool causal : {false, true}) {
        const MultiheadCall call{
            .key_padding_mask = Mask({B, S}, true), .is_causal = causal, .need_weights = need_weights};
        check_edge([&](const Tensors& t) { return plain.forward(t[0], t[1], t[1], call).output; }, {q, k}, {B, T, 4},
                   plain.parameters());
        check_edge([&](const Tensors& t) { return added.forward(t[0], t[1], t[2], call).output; }, {q, k, v}, {B, T, 4},
                   added.parameters());
      }
      check_edge(
          [&](const Tensors& t) { return second.forward(t[0], t[1], t[1], {.need_weights = need_weights}).output; },
          {normal({T, B, 4}), normal({S, B, 4})}, {T, B, 4}, second.parameters());
      check_edge(
          [&](const Tensors& t) { return plain.forward(t[0], t[1], t[1], {.need_weights = need_weights}).output; },
          {normal({T, 4}), normal({S, 4})}, {T, 4}, plain.parameters());
    }
    for (const bool averaged : {false, true}) {
      const MultiheadCall call{.attn_mask = Mask({T, S}, true), .average_attn_weights = averaged};
      const Shape shape = averaged ? Shape{B, T, S + 2} : Shape{B, 2, T, S + 2};
      check_edge([&](const Tensors& t) { return added.forward(t[0], t[1], t[2], call).weights; }, {q, k, v}, shape,
                 added.parameters());
    }
    check_edge([&](const Tensors& t) { return added(t[0], t[1], t[2], padding(Index({B}, S / 2))); }, {q, k, v},
               {B, T, 4}, added.parameters());
  });
}

TEST_CASE("Transformer blocks of sizes 0 and 1, with first and second gradients") {
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    TransformerOptions options{.dim = 4, .ffn = 3, .heads = 2, .layers = 1, .dropout = 0, .max_length = 4};
    options.norm = order;
    options.activation = tanh;
    const EncoderBlock encoder{root, options};
    const DecoderBlock decoder{root, options};
    const EncoderDecoder whole{root, 5, 6, options};
    each_size([&](std::int64_t B, std::int64_t T, std::int64_t S) {
      const Array x = normal({B, T, 4}), memory = normal({B, S, 4}, 2);
      const Index lengths({B}, S / 2);
      check_edge([&](const Tensors& t) { return encoder(t[0], padding(lengths)); }, {memory}, {B, S, 4},
                 encoder.parameters());
      check_edge([&](const Tensors& t) { return decoder(t[0], t[1], padding(lengths)); }, {x, memory}, {B, T, 4},
                 decoder.parameters());
      check_edge(
          [&](const Tensors&) {
            return whole(Index({B, S}, 3), lengths, Index({B, T}, 2));
          },
          {}, {B, T, 6}, whole.parameters());
      auto decoding = whole.start(Index({B, S}, 3), lengths);
      for (int step = 0; step < 2; ++step) CHECK(decoding.step(Index({B}, 1)).shape() == Shape{B, 6});
      decoding.select(Index(Shape{0}));
      CHECK(decoding.step(Index(Shape{0})).shape() == Shape{0, 6});
    });
  }
}

TEST_CASE("Settings of attention layers at the ends of their range are refused, or right") {
  for (const double value : {not_a_number, infinity, -infinity}) {
    CHECK_REFUSED(ValueError, DotProductAttention(root, {.scale = value}), "attention",
                  str("scale ", value, " is not finite"));
    CHECK_REFUSED(ValueError, GaussianAttention(root, {.w = value}), "attention", str("w ", value, " is not finite"));
    CHECK_THROWS_AS(MultiHeadAttention(root, 4, 2, {.dropout = value}), ValueError);
    CHECK_THROWS_AS(DotProductAttention(root, {.dropout = value}), ValueError);
    CHECK_THROWS_AS(MultiheadAttention(root, 4, 2, {.dropout = value}), ValueError);
  }
  const Tensor x(normal({1, 5, 4}));
  check_close(BandAttention(root, {.before = most, .after = most})(x, x, x).value(),
              DotProductAttention(root)(x, x, x).value(), 1e-14);
  check_close(BandAttention(root, {.before = most})(x, x, x).value(),
              DotProductAttention(root)(x, x, x, causal).value(), 1e-14);
}

}  // namespace
}  // namespace xgrad::testing
