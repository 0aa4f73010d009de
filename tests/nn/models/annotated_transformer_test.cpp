// The transformer that docs/learn/annotated_transformer.md writes from primitive operations is the library's.
#include "../support.h"

#include "../../../examples/annotated_transformer/model.h"

namespace xgrad::testing {
namespace {

using annotated::Cache, annotated::KeysValues, annotated::Options, annotated::Transformer;

const Options sizes{.source_words = 20, .target_words = 30};
const Index sentences({2, 6}, {5, 8, 13, 2, 0, 0, 4, 4, 7, 9, 2, 1}), lengths({2}, {4, 6});
const Index before({2, 5}, {1, 7, 11, 9, 4, 1, 3, 2, 8, 8});

// Both with the same weights.
struct Twins {
  Twins() { ours.load_state_dict(theirs.state_dict()); }
  const nn::EncoderDecoder theirs{nn::root, 20, 30, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0.1}};
  const Transformer ours{nn::root, sizes};
};

double difference(const Tensor& a, const Tensor& expected) {
  return max(abs(a - expected)).item() / max(abs(expected)).item();
}

TEST_CASE("The annotated transformer gives the logits and gradients of nn::EncoderDecoder") {
  const Twins both;
  const auto compare = [&] {
    const RandomState state = random_state();  // so that both drop the same
    const Tensor expected = both.theirs(sentences, lengths, before);
    set_random_state(state);
    const Tensor logits = both.ours(sentences, lengths, before);
    CHECK(logits.shape() == Shape{2, 5, 30});
    CHECK(difference(logits, expected) < 1e-12);
    const Tensors wanted = grad(sum(square(expected)), both.theirs.parameters());
    const Tensors gradients = grad(sum(square(logits)), both.ours.parameters());
    REQUIRE(gradients.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(difference(gradients[i], wanted[i]) < 1e-12);
  };
  compare();
  const nn::Eval first(both.theirs), second(both.ours);
  compare();
}

TEST_CASE("The annotated transformer step by step gives the logits of one pass, and writes what greedy search does") {
  const Twins both;
  const nn::Eval first(both.theirs), second(both.ours);
  const Tensor at_once = both.ours(sentences, lengths, before);
  const Mask padded = annotated::padding(lengths, 6);
  Cache cache = both.ours.decoder.start(both.ours.encoder(sentences, padded), padded);
  const Tensor one = both.ours.decoder.step(before[{_, slice(0, 1)}], cache);
  const Tensor three = both.ours.decoder.step(before[{_, slice(1, 4)}], cache);
  const Tensor last = both.ours.decoder.step(before[{_, slice(4, 5)}], cache);
  CHECK(cache.length == 5);
  CHECK(difference(concat({one, three, last}, 1), at_once) < 1e-12);

  nn::DecoderStepper decoding = both.theirs.start(sentences, lengths);
  const Index expected = nn::greedy(decoding, {.bos = 1, .max_length = 7}).tokens;
  CHECK(equal(both.ours.translate(sentences, lengths, 1, 7), expected));
  CHECK_FALSE(both.ours.training());
}

TEST_CASE("In the annotated transformer words depend neither on later ones nor on padding") {
  const Transformer model{nn::root, sizes};
  const nn::Eval eval(model);
  const Tensor logits = model(sentences, lengths, before);
  for (std::int64_t t = 1; t < 5; ++t) {
    CHECK(difference(model(sentences, lengths, before[{_, slice(0, t)}]), logits[{_, slice(0, t)}]) < 1e-12);
  }
  const Tensor alone = model(sentences[{slice(0, 1), slice(0, 4)}], lengths[{slice(0, 1)}], before[{slice(0, 1)}]);
  CHECK(difference(alone, logits[{slice(0, 1)}]) < 1e-12);
}

TEST_CASE("The annotated transformer's blocks have the shapes and figures of the curriculum") {
  const Tensor k = ones({2, 1, 10, 2});  // H = 1
  const Tensor v = broadcast_to(reshape(to_real(arange(40)), {1, 1, 10, 4}), {2, 1, 10, 4});
  const Mask padded = annotated::padding(index({2, 6}), 10);
  const Tensor weights = annotated::attention_weights(randn({2, 1, 1, 2}), k, padded);
  check_close(matmul(weights, v).value(), tensor({{{{2, 3, 4, 5}}}, {{{10, 11, 12, 13}}}}).value());
  const Tensor none =
      annotated::attention_weights(randn({1, 1, 1, 2}), k[{slice(0, 1)}], annotated::padding(index({0}), 10));
  CHECK(largest(none.value()) == 0);
  CHECK(equal(annotated::later(2, 2), Mask({2, 4}, {false, false, false, true, false, false, false, false})));

  const annotated::Attention attn{nn::root, {.dim = 128, .heads = 8}};
  const Tensor words = randn({1, 11, 128});
  const KeysValues seen = attn.remember(words);
  CHECK(seen.k.shape() == Shape{1, 8, 11, 16});
  const Mask nothing(Shape{}, false);
  CHECK(annotated::attention_weights(attn.split_heads(words), seen.k, nothing).shape() == Shape{1, 8, 11, 11});
  CHECK(attn(words, seen, nothing).shape() == Shape{1, 11, 128});

  check_close(annotated::sinusoids(0, 60, 32).value(), nn::sinusoids(60, 32));
  check_close(annotated::sinusoids(7, 5, 32).value(), nn::sinusoids(12, 32)[{slice(7, 12)}]);

  const annotated::FeedForward ffn{nn::root, {.dim = 4, .ffn = 8}};
  const Array rows = ffn(ones({2, 3, 4})).value();
  CHECK(rows.shape() == Shape{2, 3, 4});
  for (std::int64_t i = 0; i < rows.size(); ++i) CHECK(rows.data()[i] == rows.data()[i % 4]);
  const annotated::AddNorm add_norm{nn::root, {.dim = 4, .dropout = 0.5}};
  CHECK(add_norm(ones({2, 3, 4}), ones({2, 3, 4})).shape() == Shape{2, 3, 4});

  const Options wide{.source_words = 200, .target_words = 200, .dim = 24, .ffn = 48, .heads = 8, .dropout = 0.5};
  const annotated::EncoderBlock encoder_block{nn::root, wide};
  const annotated::DecoderBlock decoder_block{nn::root, wide};
  const annotated::Encoder encoder{nn::root, wide};
  const Tensor x = ones({2, 100, 24});
  const Mask short_ones = annotated::padding(index({3, 2}), 100);
  CHECK(encoder_block(x, short_ones).shape() == Shape{2, 100, 24});
  CHECK(encoder(Index({2, 100}, 1), short_ones).shape() == Shape{2, 100, 24});
  CHECK(decoder_block(x, decoder_block.self_attn.remember(x), annotated::later(0, 100),
                      decoder_block.cross_attn.remember(x), short_ones)
            .shape() == Shape{2, 100, 24});
}

}  // namespace
}  // namespace xgrad::testing
