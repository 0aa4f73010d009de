// Sentence pairs as arrays of word ids: what the examples that translate learn from and are judged by.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <kit/text.h>
#include <xgrad/core/array.h>

namespace CLI {
class App;
}

namespace kit {

/// Which sentences, in what form.
struct CorpusOptions {
  std::filesystem::path file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv";
  std::int64_t pairs = 600;     ///< of the file are learnt; what follows is held out
  std::int64_t held_out = 100;  ///< pairs to judge by, at the most
  std::int64_t steps = 10;      ///< tokens of a sentence, <eos> included: T and S
  int min_freq = 2;             ///< rarer words become <unk>
};

/// Declares --data, --pairs and --held-out; `options` must live as long as the app does.
void add_corpus_options(CLI::App& app, CorpusOptions& options);

/// One batch: what the encoder reads, what the decoder is shown, and what it should say.
struct CorpusBatch {
  xgrad::Index source;          // (B, S)
  xgrad::Index source_lengths;  // (B), <eos> included
  xgrad::Index target_in;       // (B, T): <bos> and the words but the last
  xgrad::Index target_out;      // (B, T): the words and <eos>, then <pad>
  std::int64_t tokens = 0;      // that count in the loss
};

/// A sentence to judge by: its words, and everything that would be a right translation.
struct Question {
  Tokens source;
  std::vector<Tokens> answers;
};

/// The corpus, split, counted and numbered.
class Corpus {
 public:
  /// Reads the file; if it has fewer pairs than are to be learnt, all of them are, and none is held out. Throws
  /// IoError, and DataError for a file without pairs.
  explicit Corpus(const CorpusOptions& options);

  const Vocab& source_vocab() const { return source_vocab_; }
  const Vocab& target_vocab() const { return target_vocab_; }
  std::int64_t size() const { return static_cast<std::int64_t>(source_.rows()); }
  /// A number that tells the training pairs, as ids and in their order, from others.
  std::uint64_t fingerprint() const;

  /// The training pairs with these numbers.
  CorpusBatch batch(std::span<const std::size_t> rows) const;

  /// Sentences as the encoder reads them, (N, S) and (N). Unknown words become <unk>.
  CorpusBatch sources(const std::vector<Tokens>& sentences) const;

  /// The words that ids stand for, up to <eos>.
  Tokens words(std::span<const std::int64_t> target_ids) const;

  /// Pairs that training never sees, one question per source sentence.
  const std::vector<Question>& held_out() const { return held_out_; }

  std::int64_t bos() const { return target_vocab_.id("<bos>"); }
  std::int64_t eos() const { return target_vocab_.id("<eos>"); }
  std::int64_t pad() const { return target_vocab_.id("<pad>"); }

 private:
  Corpus(const CorpusOptions& options, const Split& split);

  std::size_t steps_;
  Vocab source_vocab_, target_vocab_;
  SentenceArray source_, target_;
  std::vector<Question> held_out_;
};

/// Four sentences that every model which has learnt the corpus should know, with the answers that "Dive into Deep
/// Learning" gives.
struct KnownPair {
  const char* source;
  const char* target;
};
inline constexpr std::array<KnownPair, 4> known_pairs{{{"go .", "va !"},
                                                       {"i lost .", "j'ai perdu ."},
                                                       {"he's calm .", "il est calme ."},
                                                       {"i'm home .", "je suis chez moi ."}}};

/// The mean over all questions of the best BLEU that a guess has with one of the answers; 0 without questions. Throws
/// std::invalid_argument unless there is one guess for each question, or for k < 1.
double mean_bleu(std::span<const Tokens> guesses, std::span<const Question> questions, int k);

}  // namespace kit
