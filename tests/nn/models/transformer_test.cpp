// The transformer: its parts, the worked figures, step-by-step decoding, and that it learns.
#include "../support.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

const Index lengths_3_2({2}, {3, 2});

// Small enough for differences; smooth, so that they exist.
TransformerOptions small(NormOrder order = NormOrder::post) {
  return {
      .dim = 6, .ffn = 8, .heads = 2, .layers = 2, .dropout = 0, .norm = order, .activation = gelu, .max_length = 20};
}

TransformerOptions small_over(const Shape& norm_shape, NormOrder order = NormOrder::post) {
  TransformerOptions options = small(order);
  options.norm_shape = norm_shape;
  return options;
}

// ---- Parts ----

TEST_CASE("Residual connection, dropout, norm") {
  const AddNorm add_norm{root, {3, 4}, {.dropout = 0.5}};
  CHECK(add_norm(ones({2, 3, 4}), ones({2, 3, 4})).shape() == Shape{2, 3, 4});
  CHECK(add_norm.norm->weight.shape() == Shape{3, 4});
  struct Model : Module {
    AddNorm add_norm{at("add_norm"), {3, 4}};
  } model;
  CHECK_REFUSED(ShapeError, model.add_norm(ones({2, 3, 4}), ones({2, 4, 3})), "add_norm",
                "shapes differ: [2, 3, 4] and [2, 4, 3]", "in add_norm (AddNorm)");
}

TEST_CASE("The norm comes after the sum, or before the sublayer") {
  const AddNorm post{root, {4}}, pre{root, {4}, {.order = NormOrder::pre}};
  const Tensor x(normal({3, 4}));
  const auto sublayer = [](const Tensor& v) { return v * v; };
  check_close(post.around(x, sublayer).value(), layer_norm(x + x * x).value());
  check_close(pre.around(x, sublayer).value(), (x + layer_norm(x) * layer_norm(x)).value());
}

TEST_CASE("The norm is a layer norm with or without gain and bias, a batch norm, or none") {
  const Tensor x(normal({2, 3, 4})), y(normal({2, 3, 4}, 2));
  const Tensor h = x + y;
  const auto with = [](NormKind kind) { return AddNormOptions{.kind = kind}; };
  const AddNorm plain{root, {4}, with(NormKind::layer_without_affine)}, batch{root, {4}, with(NormKind::batch)},
      none{root, {4}, with(NormKind::none)};
  CHECK(plain.parameters().empty());
  CHECK(none.parameters().empty());
  CHECK(batch.parameters().size() == 2);
  check_close(plain(x, y).value(), layer_norm(h).value());
  check_close(none(x, y).value(), h.value());
  const Tensor centred = h - mean(h, {0, 1}, {.keepdim = true});
  check_close(batch(x, y).value(), (centred / sqrt(mean(square(centred), {0, 1}, {.keepdim = true}) + 1e-5)).value());
  CHECK_REFUSED(ValueError, AddNorm(root, {3, 4}, with(NormKind::batch)), "add_norm", "one axis, got [3, 4]");
}

TEST_CASE("An encoder with any kind of norm has the gradients of differences, and only batch norm is another in evaluation") {
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    for (const NormKind kind : {NormKind::layer, NormKind::layer_without_affine, NormKind::batch, NormKind::none}) {
      TransformerOptions options = small(order);
      options.norm_kind = kind;
      const Encoder encoder{root, 10, options};
      const auto run = [&] { return encoder(Index({2, 3}, {4, 2, 9, 1, 4, 0}), padding(lengths_3_2)); };
      check_module_gradients(encoder, [&](const Tensors&) { return run(); });
      const Array trained = run().value();
      const Eval evaluating(encoder);
      CHECK(equal(run().value(), trained) == (kind != NormKind::batch));
      check_module_gradients(encoder, [&](const Tensors&) { return run(); });
    }
  }
}

TEST_CASE("The feed-forward network treats all positions alike") {
  for (const Activation& activation : {Activation(relu), Activation(gelu)}) {
    const Mlp ffn{root, {.in = 4, .hidden = 4, .out = 8, .activation = activation}};
    const Array y = ffn(ones({2, 3, 4})).value();
    CHECK(y.shape() == Shape{2, 3, 8});
    for (std::int64_t i = 0; i < y.size(); ++i) CHECK(y.data()[i] == y.data()[i % 8]);
  }
  const Mlp ffn{root, {.in = 4, .hidden = 4, .out = 8}};
  CHECK(ffn.description() == "Mlp 4 -> 4 -> 8");
  const Tensor x(normal({1, 1, 4}));
  check_close(ffn(x).value(), ffn.fc2(relu(ffn.fc1(x))).value());
}

// ---- Encoder ----

TEST_CASE("With pre-norm an encoder ends in a norm of its own") {
  CHECK(!Encoder(root, 10, small()).norm);
  const Encoder encoder{root, 10, small(NormOrder::pre)};
  REQUIRE(encoder.norm);
  CHECK(encoder.norm->path() == "norm");
  CHECK(largest(mean(encoder(Index({1, 3}, {4, 2, 9})), -1).value()) < 1e-12);
}

// ---- What the norms run over ----

// Norms over (T, C): all numbers of a sequence, and a weight and a bias for each of them.
const TransformerOptions over_positions{
    .dim = 24, .ffn = 48, .heads = 8, .layers = 2, .dropout = 0.5, .norm_shape = {100, 24}};

TEST_CASE("Norms over (100, 24): 4,800 numbers each, 9,600 a block, and the shape is kept") {
  const EncoderBlock block{root, over_positions};
  const DecoderBlock decoder_block{root, over_positions};
  const Encoder encoder{root, 200, over_positions};
  const Eval eval_block(block), eval_decoder_block(decoder_block), eval_encoder(encoder);
  CHECK(block(ones({2, 100, 24}), padding(lengths_3_2)).shape() == Shape{2, 100, 24});
  CHECK(decoder_block(ones({2, 100, 24}), ones({2, 7, 24})).shape() == Shape{2, 100, 24});
  CHECK(encoder(Index({2, 100}, 1), padding(lengths_3_2)).shape() == Shape{2, 100, 24});
  for (const AddNorm* each : {&block.add_norm1, &block.add_norm2}) CHECK(each->num_parameters() == 4800);
  CHECK(block.num_parameters() == 4 * 24 * 24 + (24 * 48 + 48 + 48 * 24 + 24) + 9600);
  CHECK(decoder_block.num_parameters() == 8 * 24 * 24 + (24 * 48 + 48 + 48 * 24 + 24) + 3 * 4800);
}

TEST_CASE("Norms over (T, C) take sequences of T positions only, and steps of T") {
  struct Model : Module {
    Encoder encoder{at("encoder"), 9, small_over({5, 6})};
    Decoder decoder{at("decoder"), 9, small_over({5, 6})};
  } model;
  for (const std::int64_t T : {4, 6}) {
    CHECK_REFUSED(ShapeError, model.encoder(Index({2, T}, 1)), "layer_norm",
                  str("[2, ", T, ", 6] does not end in [5, 6]"), "in encoder.blocks.0.add_norm1");
  }
  const Tensor memory(normal({2, 7, 6}));
  const Index ids = (arange(10) % 9).reshaped({2, 5});
  DecoderState state = model.decoder.start(memory);
  CHECK_REFUSED(ShapeError, model.decoder(ids[{_, slice(0, 1)}], state), "layer_norm",
                "[2, 1, 6] does not end in [5, 6]", "in decoder.blocks.0.add_norm1");
  CHECK(state.length() == 0);
  check_close(model.decoder(ids, state).value(), model.decoder(ids, memory).value());
}

TEST_CASE("norm_shape is (C) or (T, C)") {
  for (const Shape& sizes : {Shape{5}, Shape{6, 5}, Shape{2, 5, 6}}) {
    CHECK_REFUSED(ValueError, EncoderBlock(root, small_over(sizes)), "transformer",
                  str("needs norm_shape (C) or (T, C) with C = 6, got ", sizes));
  }
  CHECK_REFUSED(ValueError, EncoderBlock(root, small_over({0, 6})), "LayerNorm", "size 0 is not positive");
  for (const Shape& sizes : {Shape{6}, Shape{3, 6}}) {
    CHECK(Encoder(root, 10, small_over(sizes, NormOrder::pre)).norm->sizes == sizes);
    CHECK(Decoder(root, 10, small_over(sizes, NormOrder::pre)).norm->sizes == sizes);
  }
}

TEST_CASE("A block whose norms run over (T, C) is the formula") {
  const EncoderBlock block{root, small_over({5, 6})};
  const Tensor x(normal({2, 5, 6}));
  const auto norm = [](const Tensor& v) { return reshape(layer_norm(flatten(v, 1)), v.shape()); };
  const Tensor h = norm(x + block.attn(x, causal));
  check_close(block(x, causal).value(), norm(h + block.ffn(h)).value());
}

TEST_CASE("With norms over (T, C) earlier positions change with later ones, causal mask or not; over C they do not") {
  constexpr std::int64_t T = 5;
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    for (const bool over_all : {false, true}) {
      const TransformerOptions options = over_all ? small_over({T, 6}, order) : small(order);
      const EncoderBlock encoder_block{root, options};
      const DecoderBlock decoder_block{root, options};
      const Tensor memory(normal({2, 3, 6}, 3));
      const std::vector<std::function<Tensor(const Tensor&)>> blocks{
          [&](const Tensor& x) { return encoder_block(x, causal); },
          [&](const Tensor& x) { return decoder_block(x, memory); }};
      for (const auto& block : blocks) {
        const Array x = normal({2, T, 6});
        CHECK(check_causality(block, Tensor(x)).ok() == !over_all);
      }
    }
  }
}

// ---- Decoder ----

TEST_CASE("A decoder block is causal, or sees what another mask leaves") {
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    const DecoderBlock block{root, small(order)};
    const Tensor x(normal({2, 5, 6})), memory(normal({2, 3, 6}, 3));
    const AttentionMask read = padding(lengths_3_2), all, own{.band = AttentionBand{.before = 1, .after = 1}};
    const auto composed = [&](const AttentionMask& mask) {
      const Tensor g = block.add_norm1.around(x, [&](const Tensor& x) { return block.self_attn(x, mask); });
      const Tensor h =
          block.add_norm2.around(g, [&](const Tensor& x) { return block.cross_attn(x, memory, memory, read); });
      return block.add_norm3.around(h, block.ffn).value();
    };
    CHECK(equal(block(x, memory, read).value(), composed(causal)));
    CHECK(equal(block(x, memory, read, all).value(), composed(all)));
    CHECK(equal(block(x, memory, read, own).value(), composed(own)));
    CHECK(difference(composed(all), composed(causal)) > 1e-3);
  }
}

TEST_CASE("A decoder state goes on sharing its memory while every sequence keeps its source") {
  const EncoderDecoder model{root, 11, 13, small()};
  const Tensor memory = model.encoder(Index({2, 3}, {1, 2, 3, 4, 5, 6}));
  DecoderState state = model.decoder.start(memory, padding(Index({2}, {3, 2})));
  state.select(Index({4}, {0, 0, 1, 1}));
  model.decoder(Index({4, 1}, {1, 2, 3, 4}), state);
  const Tensor k = state.blocks[1].memory.k, past = state.blocks[1].past.keys();
  state.select(Index({4}, {1, 0, 3, 3}));
  CHECK(same(state.blocks[1].memory.k, k));
  CHECK(equal(state.blocks[1].past.keys().value(), index_select(past, 0, Index({4}, {1, 0, 3, 3})).value()));
  state.select(Index({2}, {2, 3}));
  CHECK(equal(state.blocks[1].memory.k.value(), k.value()[{slice(2, 4)}]));
  CHECK(equal(*state.memory_mask.lengths, Index({2}, 2)));
  CHECK(state.batch() == 2);
}

TEST_CASE("A decoder state of another batch size is refused, at the first step and later") {
  const EncoderDecoder model{root, 11, 13, small()};
  auto decoding = model.start(Index({2, 3}, 1), Index({2}, 3));
  for (int step = 0; step < 2; ++step) {
    CHECK_REFUSED(ShapeError, decoding.step(Index({3}, 1)), "decoder", "ids [3, 1]", "2 sequences", "in decoder");
    decoding.step(Index({2}, 1));
  }
  CHECK_THROWS_AS(decoding.select(Index({1}, {2})), ValueError);
}

// ---- What the decoder attends to ----

TransformerOptions attending(CrossAttention to, NormOrder order = NormOrder::post) {
  TransformerOptions options = small(order);
  options.cross_attention = to;
  return options;
}

TEST_CASE("The encoder gives the results of all its blocks") {
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    const Encoder encoder{root, 10, small(order)};
    const Index ids({2, 3}, {4, 2, 9, 1, 7, 1});
    const AttentionMask mask = padding(Index({2}, {3, 2}));
    const Tensors layers = encoder.block_outputs(ids, mask);
    REQUIRE(layers.size() == 2);
    CHECK(equal(layers[1].value(), encoder(ids, mask).value()));
    const Tensor x = encoder.positions(encoder.embedding(ids) * std::sqrt(6.0));
    const Tensor first = encoder.blocks[0](x, mask);
    check_close(layers[0].value(), (encoder.norm ? (*encoder.norm)(first) : first).value());
  }
}

TEST_CASE("Words and positions are added, joined, or left without positions, with or without the factor sqrt(C)") {
  const Index ids({2, 3}, {4, 2, 9, 1, 7, 1});
  for (const Positions kind : {Positions::sinusoidal, Positions::learned, Positions::joined, Positions::none}) {
    for (const bool scale : {true, false}) {
      TransformerOptions options = small();
      options.positions = kind;
      options.scale_embedding = scale;
      const Encoder encoder{root, 10, options};
      const Tensor words = encoder.embedding(ids) * (scale ? std::sqrt(6.0) : 1);
      const Tensor p = kind == Positions::learned ? encoder.positions.weight[{slice(0, 3)}]
                                                  : Tensor(sinusoids(3, kind == Positions::joined ? 3 : 6));
      const Tensor x = kind == Positions::none     ? words
                       : kind == Positions::joined ? concat({words, stack({p, p})}, -1)
                                                   : words + p;
      check_close(encoder(ids).value(), encoder.blocks[1](encoder.blocks[0](x)).value());
      const Decoder decoder{root, 10, options};
      const Array whole = decoder(ids, encoder(ids)).value();
      DecoderState state = decoder.start(encoder(ids));
      for (const std::int64_t t : {0, 1, 2}) {
        check_close(decoder(ids[{_, slice(t, t + 1)}], state).value(), Tensor(whole)[{_, slice(t, t + 1)}].value());
      }
    }
  }
  TransformerOptions odd{.dim = 5, .heads = 1, .positions = Positions::joined};
  CHECK_REFUSED(ValueError, Encoder(root, 10, odd), "transformer", "an even dim, got 5");
  CHECK_REFUSED(ValueError, Decoder(root, 10, odd), "transformer", "an even dim, got 5");
}

TEST_CASE("Every block attends to the encoder block of its depth") {
  for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
    const Decoder decoder{root, 13, attending(CrossAttention::same_depth, order)};
    const Tensors layers{normal({2, 3, 6}), normal({2, 3, 6}, 2)};
    const Index ids({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
    const AttentionMask mask = padding(lengths_3_2);
    Tensor h = decoder.positions(decoder.embedding(ids) * std::sqrt(6.0));
    for (int i = 0; i < 2; ++i) h = decoder.blocks[i](h, layers[static_cast<std::size_t>(i)], mask);
    check_close(decoder(ids, layers, mask).value(), decoder.out(decoder.norm ? (*decoder.norm)(h) : h).value());
  }
}

TEST_CASE("Every block attends to all encoder blocks, whatever the mask") {
  const Decoder decoder{root, 13, attending(CrossAttention::all)};
  const Tensors layers{normal({2, 3, 6}), normal({2, 3, 6}, 2)};
  const Index ids({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  // The same keys one block behind the other; their order does not matter.
  const Tensor memory = concat(layers, 1);
  const Tensor bias(normal({2, 1, 4, 3}, 3));
  const AttentionMask padded = padding(lengths_3_2), ignored{.masked = mask({{false, true, false}})},
                      biased{.bias = bias};
  CHECK(decoder(ids, layers).shape() == Shape{2, 4, 13});
  check_close(decoder(ids, layers).value(), decoder(ids, memory).value());
  const Mask behind = padding_mask(lengths_3_2, 3).reshaped({2, 1, 1, 3});
  check_close(decoder(ids, layers, padded).value(),
              decoder(ids, memory, AttentionMask{.masked = concat(std::vector{behind, behind}, -1)}).value());
  check_close(decoder(ids, layers, ignored).value(),
              decoder(ids, memory, AttentionMask{.masked = mask({{false, true, false, false, true, false}})}).value());
  check_close(decoder(ids, layers, biased).value(), decoder(ids, memory, AttentionMask{.bias = concat({bias, bias}, -1)}).value());

  AttentionRecorder recorder;
  decoder(ids, layers, padded);
  const Array weights = recorder.last("blocks.0.cross_attn");  // (B, H, T, S N)
  CHECK(weights.shape() == Shape{2, 2, 4, 6});
  for (const std::int64_t key : {4, 5}) CHECK(weights.at({1, 0, 0, key}) == 0);
  for (const std::int64_t key : {0, 1, 2, 3}) CHECK(weights.at({1, 0, 0, key}) > 0);
}

TEST_CASE("Memory masks count positions, whatever the decoder attends to, also step by step") {
  const Index ids({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Tensors layers{normal({2, 4, 6}), normal({2, 4, 6}, 2)};
  const Index per_query({2, 5}, {1, 2, 3, 4, 0, 4, 3, 2, 1, 4}), lengths_4_2({2}, {4, 2});
  const AttentionMask masks[] = {AttentionMask{},
                                 padding(lengths_4_2),
                                 AttentionMask{.bias = Tensor(normal({2, 1, 5, 4}, 3))},
                                 causal,
                                 window({.before = 1}),
                                 window({.before = 1, .after = 2}),
                                 window({.before = std::numeric_limits<std::int64_t>::max()}),
                                 causal & window({.before = 2, .after = 1}) & padding(lengths_4_2),
                                 window({.after = 1}) & padding(per_query),
                                 AttentionMask{.masked = mask({{false, true, false, true}})} & causal,
                                 AttentionMask{.masked = mask({{false}, {true}, {false}, {false}, {true}})},
                                 AttentionMask{.bias = Tensor(normal({5, 4}, 3))} & causal};
  for (const CrossAttention to : {CrossAttention::last, CrossAttention::same_depth, CrossAttention::all}) {
    const Decoder decoder{root, 13, attending(to)};
    for (const AttentionMask& mask : masks) {
      // The reference has the mask written out, and for `all` one encoder block behind the other.
      const Mask blocked = masked_keys(mask, {2, 5, 4});
      const Array whole = decoder(ids, layers, mask).value();
      if (to == CrossAttention::all) {
        const Mask twice = concat(std::vector{blocked, blocked}, -1);
        const Tensor bias = mask.bias.defined() ? concat({mask.bias, mask.bias}, -1) : Tensor();
        check_close(whole, decoder(ids, concat(layers, 1), AttentionMask{.masked = twice, .bias = bias}).value());
      } else {
        check_close(whole, decoder(ids, layers, AttentionMask{.masked = blocked, .bias = mask.bias}).value());
      }
      for (const std::int64_t T : {1, 2}) {
        DecoderState state = decoder.start(layers, mask);
        for (std::int64_t t = 0; t < 5; t += T) {
          const Tensor step = decoder(ids[{_, slice(t, std::min<std::int64_t>(t + T, 5))}], state);
          check_close(step.value(), whole[{_, slice(t, std::min<std::int64_t>(t + T, 5))}]);
        }
      }
    }
  }
}

TEST_CASE("A memory mask that does not know a position, or lengths beyond the memory, are refused") {
  const Decoder decoder{root, 13, attending(CrossAttention::all)};
  const Tensors layers{normal({1, 4, 6}), normal({1, 4, 6}, 2)};
  for (const AttentionMask& mask : {padding(Index({1, 2}, 3)), AttentionMask{.masked = Mask({2, 4}, false)},
                                    AttentionMask{.bias = zeros({2, 4})}}) {
    DecoderState state = decoder.start(layers, mask);
    decoder(Index({1, 2}, 1), state);
    CHECK_REFUSED(ShapeError, decoder(Index({1, 1}, 1), state), "decoder", "2 positions", "but 2 came before", "1");
  }
  for (const std::int64_t length : {std::int64_t{-1}, std::int64_t{5}, std::int64_t{1} << 62}) {
    CHECK_REFUSED(ValueError, decoder(Index({1, 2}, 1), layers, padding(Index({1}, length))), "decoder",
                  str("length ", length, " is not in [0, 4]"));
  }
  CHECK_REFUSED(ShapeError, decoder.start(normal({4, 6})), "decoder", "needs a memory (B, S, C), got [4, 6]");
}

TEST_CASE("Whatever the decoder attends to: step by step as in one pass, and gradients are those of differences") {
  manual_seed(1);
  const Index source({2, 3}, {1, 2, 3, 4, 5, 6}), target({2, 4}, {1, 2, 3, 4, 5, 6, 1, 2});
  for (const CrossAttention to : {CrossAttention::last, CrossAttention::same_depth, CrossAttention::all}) {
    for (const NormOrder order : {NormOrder::post, NormOrder::pre}) {
      const EncoderDecoder model{root, 7, 8, attending(to, order)};
      const Array whole = model(source, lengths_3_2, target).value();
      auto decoding = model.start(source, lengths_3_2);
      decoding.select(Index({3}, {1, 0, 1}));
      for (int t = 0; t < 4; ++t) {
        const Index tokens = target[{_, t}];
        const Array step = decoding.step(index_select(tokens, 0, Index({3}, {1, 0, 1}))).value();
        check_close(step, index_select(Tensor(whole[{_, t}]), 0, Index({3}, {1, 0, 1})).value());
      }
      check_module_gradients(model, [&](const Tensors&) { return model(source, lengths_3_2, target); });
    }
  }
}

TEST_CASE("A number of encoder blocks that does not fit is refused") {
  const Decoder same_depth{root, 13, attending(CrossAttention::same_depth)};
  const Tensor memory(normal({1, 3, 6}));
  const Index ids({1, 2}, 1);
  CHECK_REFUSED(ValueError, same_depth(ids, Tensors{memory, memory, memory}), "decoder", "3 encoder layers", "2");
  CHECK_REFUSED(ValueError, same_depth.start(Tensors{}), "decoder", "no memory to attend to");
  const Decoder all{root, 13, attending(CrossAttention::all)};
  CHECK_REFUSED(ShapeError, all(ids, Tensors{memory, Tensor(normal({1, 4, 6}))}), "stack");
}

// ---- Teacher forcing, output, losses ----

TEST_CASE("The decoder's input is the target shifted right, with BOS in front") {
  CHECK(equal(shift_right(Index({2, 3}, {5, 6, 7, 8, 9, 10}), 1), Index({2, 3}, {1, 5, 6, 1, 8, 9})));
  CHECK_REFUSED(ShapeError, shift_right(Index({3}, 1), 0), "shift_right", "needs (B, T), got [3]");
}

}  // namespace
}  // namespace xgrad::testing
