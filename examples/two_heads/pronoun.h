// A word that needs others: in "The animal didn't cross the street because it was too tired" `it` is the animal, in "... too wide" the
// street. A small transformer reads such sentences. Each of its heads is asked one question about `it`, and points at the answer.
#pragma once

#include <cmath>
#include <string>

#include <xgrad/kit/draw/word_attention.h>
#include <xgrad/kit/text/text.h>
#include <xgrad/xgrad.h>

namespace two_heads {

using namespace xgrad;
using kit::Tokens;

inline constexpr std::int64_t it = 7, length = 11;  // where `it` stands, and the words of a sentence

/// The words of the sentences; the figure has the first of each list.
inline const Tokens beings{"animal", "dog", "horse", "cat", "cow", "robot", "bird", "child"},
    places{"street", "river", "field", "bridge", "road", "tunnel", "desert", "valley"},
    acts{"cross", "enter", "leave", "reach", "like", "visit"}, effects{"please", "tempt", "scare", "stop", "harm", "suit"},
    of_beings{"tired", "scared", "hungry", "lazy", "slow", "sick", "weak", "shy"},
    of_places{"wide", "long", "deep", "dark", "busy", "wet", "steep", "narrow"},
    others{"The", "the", "didn't", "because", "it", "was", "too"};

inline kit::Vocab vocabulary() {
  Tokens all;
  for (const Tokens& words : {beings, places, acts, effects, of_beings, of_places, others}) all.insert(all.end(), words.begin(), words.end());
  return kit::Vocab(all);
}

/// N sentences as ids (N, length); how many words of each are read, (N); the answers, (N, 3): what is `it`, how was it, what did not
/// happen?
struct Sentences {
  Index ids, read, answers;
};

/// A being and a place of the same number meet in unseen sentences only. Of the others a third ends at `it` or up to two words later.
inline Sentences sentences(const kit::Vocab& vocabulary, std::int64_t n, bool unseen) {
  const auto any = [](std::size_t below) { return static_cast<std::size_t>(randint(0, static_cast<std::int64_t>(below), {1}).item()); };
  Sentences all{Index(Shape{n, length}), Index(Shape{n}, length), Index(Shape{n, 3})};
  for (std::int64_t i = 0; i < n; ++i) {
    const bool act = any(2), place_is_it = any(2);
    const std::size_t number = any(8), apart = unseen ? 0 : 1 + any(7);
    const std::string being = beings[number], place = places[(number + apart) % 8];
    const std::string verb = (act ? acts : effects)[any(6)], adjective = (place_is_it ? of_places : of_beings)[any(8)];
    std::int64_t* id = all.ids.mutable_data() + i * length;
    for (const std::string& word : {std::string("The"), act ? being : place, std::string("didn't"), verb, std::string("the"),
                                    act ? place : being, std::string("because"), std::string("it"), std::string("was"), std::string("too"),
                                    adjective}) {
      *id++ = vocabulary.id(word);
    }
    if (!unseen && any(3) == 0) all.read.mutable_data()[i] = it + 1 + static_cast<std::int64_t>(any(3));
    std::int64_t* answer = all.answers.mutable_data() + 3 * i;
    for (const std::string& word : {place_is_it ? place : being, adjective, verb}) *answer++ = vocabulary.id(word);
  }
  return all;
}

/// A block of a transformer's encoder, and three heads of attention at `it`.
struct Reader : nn::Module {
  static constexpr std::int64_t width = 16, heads = 3, d = 4;

  Reader(At here, std::int64_t words) : Module(here), vocabulary(words) {}

  const std::int64_t vocabulary;
  nn::Embedding embedding{at("embedding"), vocabulary, width};
  nn::EncoderBlock block{at("block"), {.dim = width, .ffn = 2 * width, .heads = 4, .dropout = 0}};
  nn::Linear w_q{at("w_q"), width, heads * d}, w_k{at("w_k"), width, heads * d}, w_v{at("w_v"), width, heads * d};
  nn::Linear answers{at("answers"), d, vocabulary};

  struct Attention {
    Tensor q, k, v;  ///< (B, H, 1, d), (B, H, T, d)
    Tensor weights;  ///< (B, H, 1, T)
    Tensor answers;  ///< (B, H, words): logits
  };
  /// ids (B, T), of which the first `read` are there. Queries and keys know the sentence, values only their word.
  Attention operator()(const Index& ids, const Index& read) const {
    const Tensor words = embedding(ids);
    const Tensor x = block(words + Tensor(nn::sinusoids(ids.dim(1), width)), nn::padding(read));
    const auto in_heads = [](const Tensor& y) { return permute(reshape(y, {y.dim(0), y.dim(1), heads, d}), {0, 2, 1, 3}); };
    Attention a{.q = in_heads(w_q(x[{_, slice(it, it + 1)}])), .k = in_heads(w_k(x)), .v = in_heads(w_v(words))};
    const Mask unread = nn::padding_mask(read, ids.dim(1)).reshaped({ids.dim(0), 1, 1, ids.dim(1)});
    a.weights = softmax(masked_fill(matmul(a.q, a.k, {.transpose_b = true}) / std::sqrt(Real(d)), unread, -infinity));
    a.answers = answers(squeeze(matmul(a.weights, a.v), {2}));
    return a;
  }
};

/// The weight of each head on the answer to its question, (B, H).
inline Tensor pointed(const Reader::Attention& a, const Sentences& all) {
  Tensors each;
  for (std::int64_t h = 0; h < Reader::heads; ++h) {
    each.push_back(sum(masked_fill(a.weights[{_, h, 0}], all.ids != all.answers[{_, slice(h, h + 1)}], Real(0)), -1));
  }
  return stack(each, 1);
}

/// Each head has to give its answer weight, and the answer has to follow from the value that it found.
inline Tensor loss(const Reader& model, const Sentences& all) {
  const Reader::Attention a = model(all.ids, all.read);
  return cross_entropy(flatten(a.answers, 0, 1), all.answers.reshaped({-1})) - mean(log(pointed(a, all) + Real(1e-3)));
}

/// The numbers of one sentence, as far as it was read.
inline kit::WordReading reading(const Reader& model, const kit::Vocab& vocabulary, const Tokens& words) {
  Index ids(Shape{1, std::ssize(words)});
  for (std::size_t t = 0; t < words.size(); ++t) ids.mutable_data()[t] = vocabulary.id(words[t]);
  const Reader::Attention a = model(ids, Index(Shape{1}, std::ssize(words)));
  const Index answers = argmax(a.answers, -1);
  return {words, a.q.value()[{0, _, 0}], a.k.value()[{0}], a.v.value()[{0}], a.weights.value()[{0, _, 0}], vocabulary.token(answers.at({0, 0}))};
}

}  // namespace two_heads
