// The transformer that docs/learn/annotated_transformer.md writes from primitive operations is the library's.
#include "../support.h"

#include "../../../examples/annotated_transformer/model.h"

namespace xgrad::testing {
namespace {

using annotated::Cache, annotated::Options, annotated::Transformer;

const Options sizes{.source_words = 20, .target_words = 30};
const Index sentences({2, 6}, {5, 8, 13, 2, 0, 0, 4, 4, 7, 9, 2, 1}), lengths({2}, {4, 6});
const Index before({2, 5}, {1, 7, 11, 9, 4, 1, 3, 2, 8, 8});

// Both with the same weights.
struct Twins {
  Twins() { ours.load_state_dict(theirs.state_dict()); }
  const nn::EncoderDecoder theirs{nn::root, 20, 30, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0.1}};
  const Transformer ours{nn::root, sizes};
};

TEST_CASE("The annotated transformer gives the logits and gradients of nn::EncoderDecoder") {
  const Twins both;
  const auto compare = [&] {
    const RandomState state = random_state();  // so that both drop the same
    const Tensor expected = both.theirs(sentences, lengths, before);
    set_random_state(state);
    const Tensor logits = both.ours(sentences, lengths, before);
    check_close(logits.value(), expected.value());
    const Tensors wanted = grad(sum(square(expected)), both.theirs.parameters());
    const Tensors gradients = grad(sum(square(logits)), both.ours.parameters());
    REQUIRE(gradients.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) check_close(gradients[i].value(), wanted[i].value());
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
  check_close(concat({one, three, last}, 1).value(), at_once.value());

  nn::DecoderStepper decoding = both.theirs.start(sentences, lengths);
  const Index expected = nn::greedy(decoding, {.bos = 1, .max_length = 7}).tokens;
  CHECK(equal(both.ours.translate(sentences, lengths, 1, 7), expected));
  CHECK_FALSE(both.ours.training());
}

}  // namespace
}  // namespace xgrad::testing
