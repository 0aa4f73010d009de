// Other sets of vectors than a source and its translation: words with one label for all of them, words with a label
// each, frames of a sound, nodes of a graph. docs/topics/sets_of_vectors.md shows the models.
#pragma once

#include <algorithm>
#include <numbers>
#include <string>
#include <vector>

#include <xgrad/kit/text/text.h>
#include <xgrad/xgrad.h>

namespace sets_of_vectors {

using namespace xgrad;

constexpr std::int64_t vocabulary = 32, labels = 2, tags = 4;  // at most

// ---- Models ---------------------------------------------------------------------------------------------------------

/// One label for a sequence: ids (B, T) -> (B, labels).
struct Classifier : nn::Layer<Classifier> {
  using Layer::Layer;
  nn::Embedding embedding{at("embedding"), vocabulary, 32};
  nn::PositionalEncoding positions{at("positions"), 1000, 32};
  nn::EncoderBlock block{at("block"), {.dim = 32, .ffn = 64, .heads = 4, .dropout = 0}};
  nn::Linear label{at("label"), 32, labels};

  Tensor forward(const Index& ids, const Index& lengths, const AttentionMask& mask = {}) const {
    const Tensor h = block(positions(embedding(ids)), mask & nn::padding(lengths));  // (B, T, 32)
    const Tensor is_word = unsqueeze(to_real(!nn::padding_mask(lengths, ids.dim(1))), -1);  // (B, T, 1)
    return label(sum(h * is_word, 1) / unsqueeze(to_real(lengths), 1));
  }
};

/// One label for each word: ids (B, T) -> (B, T, tags).
struct Tagger : nn::Layer<Tagger> {
  using Layer::Layer;
  nn::Embedding embedding{at("embedding"), vocabulary, 32};
  nn::PositionalEncoding positions{at("positions"), 1000, 32};
  nn::EncoderBlock block{at("block"), {.dim = 32, .ffn = 64, .heads = 4, .dropout = 0}};
  nn::Linear tag{at("tag"), 32, tags};

  Tensor forward(const Index& ids, const Index& lengths, const AttentionMask& mask = {}) const {
    return tag(block(positions(embedding(ids)), mask & nn::padding(lengths)));
  }
};

/// Frames of 25 ms, one every 10 ms, of sounds with 16,000 samples a second: (B, N) -> (B, frames, 400).
inline Tensor frames(const Tensor& sound) {
  const Tensor image = unsqueeze(unsqueeze(sound, 1), 1);  // (B, 1, 1, N): a row of pixels
  return transpose(unfold(image, {1, 400}, {.stride = {1, 160}}));
}

/// A graph of five nodes: the links 0 - 1, 1 - 2, 1 - 4, 2 - 3, 3 - 4. True where two nodes are linked, or are one.
inline Mask five_nodes() {
  const Tensor links = tensor({{0, 1, 0, 0, 0}, {0, 0, 1, 0, 1}, {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, 0}});
  return links + transpose(links) + eye(5) > 0;
}

// ---- Data -----------------------------------------------------------------------------------------------------------

/// Sentences with labels: one each, (N), or one for each word, (N, T), with -1 after the last.
struct Labelled {
  Index ids, lengths, labels;

  std::int64_t size() const { return ids.dim(0); }
  Labelled rows(const Index& which) const {
    return {index_select(ids, 0, which), index_select(lengths, 0, which), index_select(labels, 0, which)};
  }
};

/// Both kinds of sentences have these words; a word's id is its place.
inline const kit::Tokens all_words{"<pad>", "the",  "a",   "my",  "your", "film", "food",  "room", "hotel", "was",
                                   "not",   "very", "quite", "good", "fine", "bad", "poor", "i",    "you",   "they",
                                   "we",    "now",  "saw", "duck", "watch", "book", "ring", "hand", "play",  "light"};
inline const kit::Tokens tag_names{"pronoun", "verb", "article", "noun"};

inline std::int64_t id_of(const std::string& word) { return std::ranges::find(all_words, word) - all_words.begin(); }

/// Every sentence that takes one word of each list; an empty word is left out.
inline std::vector<kit::Tokens> sentences(const std::vector<kit::Tokens>& lists) {
  std::vector<kit::Tokens> all{{}};
  for (const kit::Tokens& list : lists) {
    std::vector<kit::Tokens> longer;
    for (const kit::Tokens& begun : all) {
      for (const std::string& word : list) {
        longer.push_back(begun);
        if (!word.empty()) longer.back().push_back(word);
      }
    }
    all = longer;
  }
  return all;
}

/// 200 of them, always the same.
inline std::vector<kit::Tokens> some_of(const std::vector<kit::Tokens>& all) {
  const Index order = randperm(std::ssize(all), {.seed = 7, .draw = 0});
  std::vector<kit::Tokens> some;
  for (std::int64_t i = 0; i < 200; ++i) some.push_back(all[static_cast<std::size_t>(order.at({i}))]);
  return some;
}

inline Labelled padded(const std::vector<kit::Tokens>& texts, std::int64_t T) {
  const auto N = static_cast<std::int64_t>(texts.size());
  Labelled data{Index({N, T}, 0), Index({N}, 0), {}};
  for (std::int64_t n = 0; n < N; ++n) {
    const kit::Tokens& text = texts[static_cast<std::size_t>(n)];
    data.lengths.mutable_data()[n] = std::ssize(text);
    std::ranges::transform(text, data.ids.mutable_data() + n * T, id_of);
  }
  return data;
}

/// "the film was not very good": 1 for praise. Neither "not" nor "good" decides alone.
inline Labelled reviews() {
  const std::vector<kit::Tokens> texts =
      sentences({{"the"}, {"film", "food", "room", "hotel"}, {"was"}, {"now", "not"}, {"", "very", "quite"},
                 {"good", "fine", "bad", "poor"}});
  Labelled data = padded(texts, 6);
  std::vector<std::int64_t> praise;
  for (const kit::Tokens& text : texts) {
    const bool kind = text.back() == "good" || text.back() == "fine", negated = text[3] == "not";
    praise.push_back(kind != negated);
  }
  data.labels = index(praise);
  return data;
}

/// "i saw a saw", "the duck saw a ring", "watch the duck": a label of tag_names for each word.
inline Labelled tagged() {
  const kit::Tokens pronouns{"i", "you", "they", "we"}, articles{"a", "the", "my", "your"};
  const kit::Tokens both{"saw", "duck", "watch", "book", "ring", "hand", "play", "light"};
  struct Kind {
    std::vector<kit::Tokens> lists;
    std::vector<std::int64_t> tags;
  };
  std::vector<kit::Tokens> texts;
  std::vector<std::int64_t> all_tags;
  for (const Kind& kind : {Kind{{pronouns, both, articles, both}, {0, 1, 2, 3, -1}},
                           Kind{{articles, both, both, articles, both}, {2, 3, 1, 2, 3}},
                           Kind{{both, articles, both}, {1, 2, 3, -1, -1}}}) {
    for (const kit::Tokens& text : some_of(sentences(kind.lists))) {
      texts.push_back(text);
      all_tags.insert(all_tags.end(), kind.tags.begin(), kind.tags.end());
    }
  }
  Labelled data = padded(texts, 5);
  data.labels = index(data.ids.shape(), all_tags);
  return data;
}

/// A second of sound: 400 and 1000 oscillations a second in turn, a quarter of a second each. (1, 16000)
inline Tensor tones() {
  const Tensor t = arange(0.0, 16000.0) / 16000;
  const Tensor high = floor(4 * t) - 2 * floor(2 * t);  // 0 or 1
  return unsqueeze(sin(2 * std::numbers::pi * (400 + 600 * high) * t) / 2, 0);
}

// ---- Training -------------------------------------------------------------------------------------------------------

/// Trains on all sentences at once, each time.
template <class Model>
void fit(const Model& model, const Labelled& data, const AttentionMask& mask, int steps = 200) {
  optim::Adam adam{model.parameters(), {.lr = 0.01}};
  for (int step = 0; step < steps; ++step) {
    const Tensor logits = model(data.ids, data.lengths, mask);
    adam.step(grad(cross_entropy(logits, data.labels, {.ignore_index = -1}), model.parameters()));
  }
}

/// The share of right labels, of all or of those that `counts` chooses.
template <class Model>
double accuracy(const Model& model, const Labelled& data, const AttentionMask& mask, const Mask& counts) {
  const NoGrad off;
  const Index found = argmax(model(data.ids, data.lengths, mask), -1);
  return sum(to_real(found == data.labels && counts)).item() / sum(to_real(counts)).item();
}

/// The words that are a verb or a noun, as the others decide.
inline Mask ambiguous(const Labelled& data) { return data.ids >= id_of("saw") && data.labels >= 0; }

}  // namespace sets_of_vectors
