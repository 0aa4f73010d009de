// Self-attention from one map and step by step, the cache of keys and values, and the gated feed-forward.
#include "../support.h"

#include <limits>

#include <xgrad/xgrad.h>
#include <xgrad/core/runtime/memory.h>

namespace xgrad::testing {
namespace {

using namespace nn;

TEST_CASE(
    "Self-attention from one map is attention with three, with fewer heads of keys and turned by positions, too") {
  using Options = MultiHeadAttentionOptions;
  for (const Options& options :
       {Options{.bias = true}, Options{.kv_heads = 2}, Options{.kv_heads = 2, .rotary_theta = 50.}}) {
    Options packed = options;
    packed.packed = true;
    const MultiHeadAttention one{root, 8, 4, packed}, three{root, 8, 4, options};
    std::int64_t row = 0;
    for (const Linear* map : {&*three.q, &*three.k, &*three.v}) {
      const Slice rows = slice(row, row + map->out);
      row += map->out;
      map->weight.assign(one.qkv->weight.value()[{rows}]);
      if (options.bias) map->bias.assign(one.qkv->bias.value()[{rows}]);
    }
    three.o.load_state_dict(one.o.state_dict());
    const Tensor x = normal({2, 5, 8});
    AttentionRecorder recorder;
    check_close(one(x, causal).value(), three(x, causal).value());
    check_close(recorder.records()[0].weights, recorder.records()[1].weights);
    if (!options.rotary_theta) check_close(one(x).value(), three(x, three.remember(x, x)).value());
    CHECK(to_string(one).starts_with("MultiHeadAttention 8, 4 heads"));
  }
}

TEST_CASE("Step by step, in pieces of any size, self-attention is what it is at once") {
  using Options = MultiHeadAttentionOptions;
  Options scaled{.bias = true, .packed = true, .rotary_theta = 10., .rotary_layout = RotaryLayout::interleaved};
  scaled.rotary_scaling = RotaryScaling{.context = 20};
  for (const Options& options :
       {Options{.bias = true, .packed = true}, Options{.kv_heads = 2, .packed = true}, Options{.kv_heads = 2},
        Options{.bias = true, .kv_heads = 1, .packed = true, .rotary_theta = 100.},
        Options{.bias = true, .kv_heads = 1, .rotary_theta = 100.}, scaled}) {
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
          pieces.push_back(attn(x[{_, slice(from, to)}], past, seen));
        }
        check_close(concat(pieces, 1).value(), expected);
        AttentionRecorder recorder;
        past.rewind(8);
        check_close(attn(x[{_, slice(8, 9)}], past, seen).value(), expected[{_, slice(8, 9)}]);
        CHECK(recorder.records()[0].weights.shape() == Shape{2, 4, 1, seen.value_or(9)});
      }
    }
  }
}

TEST_CASE("Self-attention refuses bad settings and inputs") {
  CHECK_REFUSED(ValueError, MultiHeadAttention(root, 8, 4, {.kv_heads = 3}), "attention", "4 heads", "3 kv_heads");
  CHECK_REFUSED(ValueError, MultiHeadAttention(root, 8, 4, {.kv_heads = 0}), "MultiHeadAttention", "kv_heads 0");
  CHECK_REFUSED(ValueError, MultiHeadAttention(root, 6, 2, {.rotary_theta = 100.}), "attention", "heads of 3 columns");
  const MultiHeadAttention attn{root, 8, 2, {.packed = true}};
  CHECK_THROWS_AS(attn(zeros({2, 3, 7})), ShapeError);
  CHECK_REFUSED(ValueError, attn(zeros({2, 3, 8}), zeros({2, 3, 8}), zeros({2, 3, 8})), "attention", "self-attention");
  const char* const packed = "packed maps are for self-attention, of one input";
  CHECK_REFUSED(ValueError, attn.remember(zeros({2, 3, 8}), zeros({2, 3, 8})), "attention", packed);
  CHECK_REFUSED(ValueError, attn(zeros({2, 3, 8}), KeyValue{zeros({2, 3, 8}), zeros({2, 3, 8})}), "attention", packed);
  CHECK_REFUSED(ValueError, MultiHeadAttention(root, 8, 2, {.key = 5, .packed = true}), "attention",
                "packed maps have one width, dim 8, not query 0, key 5, value 0");
  const MultiHeadAttention turned{root, 8, 2, {.rotary_theta = 100.}};
  CHECK_REFUSED(ValueError, turned.remember(zeros({2, 3, 8}), zeros({2, 3, 8})), "attention", "rotary positions");
  KeyValueCache past;
  attn(zeros({2, 3, 8}), past);
  CHECK_THROWS_AS(attn(zeros({1, 1, 8}), past), ShapeError);
  CHECK(past.length() == 3);
}

// T positions of two sequences.
Tensor rows(std::int64_t T, std::uint64_t seed) { return normal({2, T, 3}, seed); }

TEST_CASE("A cache holds what was appended, position by position, beyond its first room, too") {
  KeyValueCache cache(4);
  CHECK(cache.length() == 0);
  CHECK(!cache.keys().defined());
  Tensors k, v;
  for (const std::int64_t T : {1, 2, 3, 9, 0, 1}) {
    k.push_back(rows(T, k.size()));
    v.push_back(rows(T, k.size() + 20));
    cache.append(k.back(), v.back());
    CHECK(equal(cache.keys().value(), concat(k, 1).value()));
    CHECK(equal(cache.values().value(), concat(v, 1).value()));
  }
  CHECK(cache.length() == 16);
  cache.rewind(2);
  CHECK(equal(cache.keys().value(), concat(k, 1).value()[{_, slice(0, 2)}]));
}

TEST_CASE("Copies of a cache go on by themselves") {
  KeyValueCache one(8);
  one.append(rows(2, 1), rows(2, 2));
  KeyValueCache other = one;
  one.append(rows(1, 3), rows(1, 4));
  other.append(rows(1, 5), rows(1, 6));
  CHECK(equal(one.keys().value(), concat({rows(2, 1), rows(1, 3)}, 1).value()));
  CHECK(equal(other.keys().value(), concat({rows(2, 1), rows(1, 5)}, 1).value()));
  CHECK(equal(one.values().value(), concat({rows(2, 2), rows(1, 4)}, 1).value()));
  const Tensor seen = one.keys();
  const Array before = Array(seen.shape(), std::span(seen.value().data(), static_cast<std::size_t>(seen.size())));
  one.rewind(0);
  one.append(rows(3, 7), rows(3, 8));
  CHECK(equal(seen.value(), before));
}

TEST_CASE("Selecting rows keeps the positions") {
  KeyValueCache cache;
  cache.select(Index({1}, {7}));  // nothing there
  cache.append(rows(3, 1), rows(3, 2));
  cache.select(Index({3}, {1, 1, 0}));
  CHECK(equal(cache.keys().value(), index_select(rows(3, 1), 0, Index({3}, {1, 1, 0})).value()));
  CHECK_THROWS_AS(cache.select(Index({1}, {3})), ValueError);
  CHECK(cache.length() == 3);
  const Tensor more = normal({3, 2, 3}, 9);
  cache.append(more, more);
  CHECK(equal(cache.values().value()[{_, slice(3, 5)}], more.value()));
}

TEST_CASE("Gradients flow through a cache, and what a graph has seen does not change") {
  check_gradients(
      [](const Tensors& x) {
        KeyValueCache cache(2);
        for (const Tensor& each : x) cache.append(each, square(each));
        return cache.keys() * cache.values();
      },
      {normal({2, 1, 3}), normal({2, 2, 3}, 2), normal({2, 1, 3}, 3)});
  const Tensor w = variable(normal({1, 1, 2}));
  KeyValueCache cache(8);
  cache.append(w * 2, w * 3);
  const Tensor y = sum(cache.keys() * cache.values());  // 6 w^2
  {
    const NoGrad off;
    cache.append(normal({1, 1, 2}), normal({1, 1, 2}));
    cache.rewind(0);
    cache.append(normal({1, 2, 2}, 2), normal({1, 2, 2}, 2));
  }
  check_close(grad(y, {w})[0].value(), (w * 12).value());
}

TEST_CASE("A cache refuses what does not fit, and stays as it was") {
  CHECK_REFUSED(ValueError, KeyValueCache cache(0), "key_value_cache", "a capacity of 0 positions");
  KeyValueCache cache;
  cache.append(rows(3, 1), rows(3, 2));
  const auto refused = [&](const Shape& k, const Shape& v) {
    return error_of<ShapeError>([&] { cache.append(normal(k), normal(v)); });
  };
  CHECK(refused({3, 1, 3}, {3, 1, 3}) == "attention: batch sizes differ: [3, 1, 3] after a past of [2, 3, 3]");
  CHECK(refused({2, 1, 4}, {2, 1, 3}) == "attention: widths differ: [2, 1, 4] after a past of [2, 3, 3]");
  CHECK(refused({2, 1, 3}, {2, 1, 5}) == "attention: widths differ: [2, 1, 5] after a past of [2, 3, 3]");
  CHECK(refused({2, 1, 3}, {2, 2, 3}) ==
        "attention: needs keys and values (batch, positions, width): [2, 1, 3] and [2, 2, 3]");
  CHECK(refused({2, 3}, {2, 3}) == "attention: needs keys and values (batch, positions, width): [2, 3] and [2, 3]");
  CHECK(cache.length() == 3);
  CHECK(equal(cache.keys().value(), rows(3, 1).value()));
}

TEST_CASE("A cache after a selection of rows writes into the block that is there") {
  KeyValueCache cache(100);
  cache.append(rows(3, 1), rows(3, 2));
  cache.select(Index({2}, {1, 0}));
  const std::int64_t before = pool_stats().bytes_in_use;
  const Tensor k = rows(1, 3), v = rows(1, 4);
  const std::int64_t own = pool_stats().bytes_in_use - before;
  for (int i = 0; i < 90; ++i) cache.append(k, v);
  CHECK(pool_stats().bytes_in_use - before == own);
  CHECK(equal(cache.keys().value()[{_, slice(0, 4)}],
              concat({index_select(rows(3, 1), 0, Index({2}, {1, 0})), k}, 1).value()));
  cache.select(Index(Shape{0}));
  CHECK(cache.keys().shape() == Shape{0, 93, 3});
}

TEST_CASE("A cache goes back only to positions that are there, and so do the states made of caches") {
  KeyValueCache cache(4);
  cache.append(rows(2, 1), rows(2, 2));
  const auto refusal = [](auto& state, std::int64_t length) {
    return error_of<ValueError>([&] { state.rewind(length); });
  };
  CHECK(refusal(cache, -1) == "key_value_cache: rewind to position -1 of 2");
  CHECK(refusal(cache, 3) == "key_value_cache: rewind to position 3 of 2");
  CHECK(refusal(cache, std::numeric_limits<std::int64_t>::max()) ==
        "key_value_cache: rewind to position 9223372036854775807 of 2");
  CHECK(cache.length() == 2);
  cache.rewind(2);
  cache.rewind(0);
  CHECK(!cache.keys().defined());
  const Tensor wide = normal({2, 2, 7});  // the block that is left has no room for them
  cache.append(wide, rows(2, 2));
  CHECK(equal(cache.keys().value(), wide.value()));

  const Gpt gpt(root, {.vocabulary = 5, .context = 8, .dim = 4, .heads = 2, .layers = 1, .dropout = 0});
  LanguageState text = gpt.begin(1);
  gpt.next(Index({1, 3}, {1, 2, 3}), text);
  CHECK(refusal(text, -1) == "language_model: rewind to position -1 of 3");
  CHECK(refusal(text, 4) == "language_model: rewind to position 4 of 3");
  text.rewind(2);
  CHECK(text.length() == 2);
  CHECK(text.blocks[0].length() == 2);

  const Decoder decoder(root, 5, {.dim = 4, .ffn = 4, .heads = 2, .layers = 1, .dropout = 0});
  DecoderState decoding = decoder.start(normal({1, 2, 4}));
  decoder(Index({1, 2}, {1, 2}), decoding);
  CHECK(refusal(decoding, -1) == "decoder: rewind to position -1 of 2");
  CHECK(refusal(decoding, 3) == "decoder: rewind to position 3 of 2");
  decoding.rewind(1);
  CHECK(decoding.blocks[0].past.length() == 1);
}

}  // namespace
}  // namespace xgrad::testing
