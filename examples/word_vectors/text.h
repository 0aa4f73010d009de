// The settings of this example, and a text as pairs of words that stand near each other, and words that do not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/files/text_file.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/text/text.h>

namespace word_vectors {

using namespace xgrad;

/// Skip-gram with negative sampling (Mikolov et al., "Distributed Representations of Words and Phrases and their
/// Compositionality", 2013).
struct Config {
  // text: one sentence per line; of a line with tabs the first column counts
  std::filesystem::path text = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv";
  int min_freq = 2;
  double subsample = 1e-3;  // t: a word of frequency f is kept with probability sqrt(t / f)
  std::int64_t window = 3;  // a context word is at most so far away

  // model
  std::int64_t dim = 32;       // d
  std::int64_t negatives = 5;  // K

  // training
  std::int64_t steps = 3000;
  std::int64_t batch = 512;
  double learning_rate = 0.01;

  // report
  std::vector<std::string> words = {};  // to print the neighbours of; chosen by frequency if empty
  std::int64_t shown = 70;              // words in the picture

  // translation with the vectors as the encoder's embedding
  kit::CorpusOptions corpus{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};
  std::int64_t epochs = 40;
  std::int64_t translation_batch = 64;
  double translation_rate = 0.005;
};

/// A word, and others of which the first stands near it in the text.
struct Batch {
  Index centers;  // (B)
  Index others;   // (B, 1 + K)
};

/// The words of a text by sentence.
class Text {
 public:
  /// Throws kit::IoError, and kit::DataError for a text in which no word has a neighbour.
  explicit Text(const Config& config)
      : config_(config),
        sentences_(read(config.text)),
        vocab_(sentences_, {.min_freq = config.min_freq, .reserved = {"<unk>"}}) {
    std::vector<double> counts(vocab_.size());
    for (const kit::Tokens& sentence : sentences_) {
      ids_.emplace_back();
      for (const std::string& word : sentence) {
        const std::int64_t id = vocab_.id(word);
        if (id == 0) continue;  // unknown words have no neighbours
        ids_.back().push_back(id);
        ++counts[id];
        ++words_;
      }
      if (ids_.back().size() < 2) ids_.pop_back();
    }
    if (ids_.empty()) throw kit::DataError(config.text, 1, "no word that occurs often has a neighbour");
    if (vocab_.size() < 3)
      throw kit::DataError(config.text, 1, "only one word occurs often: there is no other to draw");
    double total = 0;
    for (const double count : counts) {
      const double frequency = count / words_;
      kept_.push_back(frequency > 0 ? std::min(1.0, std::sqrt(config.subsample / frequency)) : 0);
      noise_.push_back(total += std::pow(count, 0.75));
    }
  }

  const kit::Vocab& vocab() const { return vocab_; }
  std::int64_t words() const { return words_; }
  std::int64_t sentences() const { return std::ssize(ids_); }

  /// Random places of the text: a word, one of its neighbours, and K words drawn by frequency^0.75. Frequent words are
  /// passed over often.
  Batch batch(std::mt19937_64& generator) const {
    const std::int64_t B = config_.batch, K = config_.negatives;
    Batch result{Index(Shape{B}), Index(Shape{B, 1 + K})};
    for (std::int64_t b = 0; b < B;) {
      const auto& sentence = ids_[below(std::ssize(ids_), generator)];
      const std::int64_t at = below(std::ssize(sentence), generator);
      const std::int64_t reach = 1 + below(config_.window, generator);
      const std::int64_t offset = below(2 * reach, generator) - reach;
      const std::int64_t near = at + (offset < 0 ? offset : offset + 1);
      if (near < 0 || near >= std::ssize(sentence)) continue;
      const std::int64_t center = sentence[at], context = sentence[near];
      if (!keep(center, generator) || !keep(context, generator)) continue;
      result.centers.mutable_data()[b] = center;
      std::int64_t* others = result.others.mutable_data() + b * (1 + K);
      others[0] = context;
      for (std::int64_t k = 1; k <= K;) {
        others[k] = std::ranges::upper_bound(noise_, uniform(generator) * noise_.back()) - noise_.begin();
        if (others[k] != context) ++k;
      }
      ++b;
    }
    return result;
  }

 private:
  static std::vector<kit::Tokens> read(const std::filesystem::path& path) {
    std::vector<kit::Tokens> sentences;
    for (const std::string& line : kit::read_lines(path)) {
      kit::Tokens words;
      for (std::string& word : kit::words(kit::preprocess(line.substr(0, line.find('\t'))))) {
        const std::string_view marks = ",.!?;:-\"'()[]";
        const std::size_t first = word.find_first_not_of(marks), last = word.find_last_not_of(marks);
        if (first != word.npos) words.push_back(word.substr(first, last + 1 - first));
      }
      sentences.push_back(std::move(words));
    }
    return sentences;
  }

  /// An integer from 0 to n - 1, each equally likely, since n is far below 2^64. A distribution of the standard library
  /// draws other integers with another compiler.
  static std::int64_t below(std::uint64_t n, std::mt19937_64& generator) {
    return static_cast<std::int64_t>(generator() % n);
  }
  static double uniform(std::mt19937_64& generator) { return static_cast<double>(generator() >> 11) * 0x1p-53; }
  bool keep(std::int64_t word, std::mt19937_64& generator) const { return uniform(generator) < kept_[word]; }

  const Config& config_;
  std::vector<kit::Tokens> sentences_;
  kit::Vocab vocab_;
  std::vector<std::vector<std::int64_t>> ids_;  // of sentences with neighbours in them
  std::int64_t words_ = 0;
  std::vector<double> kept_;   // probability to keep a word
  std::vector<double> noise_;  // running sum of count^0.75
};

}  // namespace word_vectors
