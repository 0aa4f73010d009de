// A word that needs others: in "The animal didn't cross the street because it was too tired" `it` is the animal, in "... too wide" the
// street. A small transformer reads such sentences. Each of its heads is asked one question about `it`, and points at the answer.
#pragma once

#include <algorithm>
#include <cmath>

#include <xgrad/kit/draw/word_attention.h>
#include <xgrad/kit/text/text.h>
#include <xgrad/xgrad.h>

namespace two_heads {

using namespace xgrad;
using kit::Tokens;

inline constexpr std::int64_t it = 7, length = 11, choices = 6;  // where `it` stands; the words of a sentence and of a list below

inline const Tokens beings{"animal", "dog", "horse", "cat", "robot", "child"}, places{"street", "river", "field", "bridge", "tunnel", "valley"},
    acts{"cross", "enter", "leave", "reach", "like", "visit"}, effects{"please", "tempt", "scare", "stop", "harm", "suit"},
    of_beings{"tired", "scared", "hungry", "lazy", "slow", "shy"}, of_places{"wide", "long", "deep", "dark", "steep", "narrow"};
inline const kit::Vocab vocabulary(std::vector<Tokens>{beings, places, acts, effects, of_beings, of_places,
                                                       {"The", "the", "didn't", "because", "it", "was", "too"}});

/// N sentences as ids (N, length); how many words of each are read, (N); the answers, (N, 3): what is `it`, how was it, and what did
/// not happen?
struct Sentences {
  Index ids, read, answers;
};

/// A being and a place of the same number meet in unseen sentences only. Of the others a third ends at `it` or up to two words later.
inline Sentences sentences(std::int64_t n, bool unseen) {
  Sentences all{Index(Shape{n, length}), Index(Shape{n}, length), Index(Shape{n, 3})};
  const auto any = [](std::int64_t below) { return static_cast<std::size_t>(randint(0, below, {1}).item()); };
  for (std::int64_t i = 0; i < n; ++i) {
    const bool act = any(2), place_is_it = any(2), cut = !unseen && any(3) == 0;
    const std::size_t number = any(choices), apart = unseen ? 0 : 1 + any(choices - 1);
    const std::string &being = beings[number], &place = places[(number + apart) % choices];
    const std::string &verb = (act ? acts : effects)[any(choices)], &adjective = (place_is_it ? of_places : of_beings)[any(choices)];
    std::int64_t *id = all.ids.mutable_data() + i * length, *answer = all.answers.mutable_data() + 3 * i;
    for (const std::string& word : Tokens{"The", act ? being : place, "didn't", verb, "the", act ? place : being, "because", "it", "was", "too",
                                          adjective}) {
      *id++ = vocabulary.id(word);
    }
    for (const std::string& word : {place_is_it ? place : being, adjective, verb}) *answer++ = vocabulary.id(word);
    if (cut) all.read.mutable_data()[i] = it + 1 + static_cast<std::int64_t>(any(3));
  }
  return all;
}

/// A block of a transformer's encoder, and three heads of attention at `it`.
struct Reader : nn::Module {
  static constexpr std::int64_t width = 16, heads = 3, d = 4;

  nn::Embedding embedding{at("embedding"), vocabulary.size(), width};
  nn::EncoderBlock block{at("block"), {.dim = width, .ffn = 2 * width, .heads = 4, .dropout = 0}};
  nn::Linear w_q{at("w_q"), width, heads * d}, w_k{at("w_k"), width, heads * d}, w_v{at("w_v"), width, heads * d};
  nn::Linear answers{at("answers"), d, vocabulary.size()};

  struct Attention {
    Tensor q, k, v, weights, answers;  ///< (B, H, 1, d), (B, H, T, d) twice, (B, H, 1, T), and logits (B, H, words)
  };
  /// ids (B, T), of which the first `read` are there. Queries and keys know the sentence, values only their word.
  Attention operator()(const Index& ids, const Index& read) const {
    const std::int64_t B = ids.dim(0), T = ids.dim(1);
    const auto in_heads = [](const Tensor& y) { return permute(reshape(y, {y.dim(0), y.dim(1), heads, d}), {0, 2, 1, 3}); };
    const Tensor words = embedding(ids), x = block(words + Tensor(nn::sinusoids(T, width)), nn::padding(read));
    const Tensor q = in_heads(w_q(x[{_, slice(it, it + 1)}])), k = in_heads(w_k(x)), v = in_heads(w_v(words));
    const Mask unread = nn::padding_mask(read, T).reshaped({B, 1, 1, T});
    const Tensor weights = softmax(masked_fill(matmul(q, k, {.transpose_b = true}) / std::sqrt(Real(d)), unread, -infinity));
    return {q, k, v, weights, answers(squeeze(matmul(weights, v), {2}))};
  }
};

/// The weight of each head on the answer to its question, (B, H).
inline Tensor pointed(const Reader::Attention& a, const Sentences& all) {
  const Index ids = all.ids.reshaped({-1, 1, length}), answers = all.answers.reshaped({-1, Reader::heads, 1});
  return sum(masked_fill(squeeze(a.weights, {2}), ids != answers, Real(0)), -1);
}

/// Each head has to give its answer weight, and the answer has to follow from what the head fetched.
inline Tensor loss(const Reader& model, const Sentences& all) {
  const Reader::Attention a = model(all.ids, all.read);
  return cross_entropy(flatten(a.answers, 0, 1), all.answers.reshaped({-1})) - mean(log(pointed(a, all) + Real(1e-3)));
}

/// The numbers of one sentence, as far as it was read.
inline kit::WordReading reading(const Reader& model, const Tokens& words) {
  Index ids(Shape{1, std::ssize(words)});
  std::ranges::transform(words, ids.mutable_data(), [](const std::string& word) { return vocabulary.id(word); });
  const Reader::Attention a = model(ids, Index(Shape{1}, std::ssize(words)));
  const std::string answer = vocabulary.token(argmax(a.answers[{0, 0}], -1).item());
  return {words, a.q.value()[{0, _, 0}], a.k.value()[{0}], a.v.value()[{0}], a.weights.value()[{0, _, 0}], answer};
}

}  // namespace two_heads
