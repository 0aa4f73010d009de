// Sentence pairs as arrays of word ids, to train and test the examples that translate.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/text/text.h>

namespace xgrad::kit {

/// The choice of sentences, and their form.
struct CorpusOptions {
  std::filesystem::path file = {};  ///< lines of source<TAB>target: Tatoeba, ManyThings.org
  std::int64_t pairs = 600;         ///< to learn, of the file; those after them are held out
  std::int64_t held_out = 100;      ///< pairs to judge by, at the most
  std::int64_t steps = 10;          ///< tokens of a sentence, <eos> included: T and S
  int min_freq = 2;                 ///< rarer words become <unk>
};

class Options;
struct Split;

/// Declares --data, --pairs and --held-out.
void add_corpus_options(Options& options, CorpusOptions& config);

/// One batch: the encoder's input and the decoder's target; the decoder's input is nn::shift_right(target, bos).
struct CorpusBatch {
  Index source;             ///< (B, S)
  Index source_lengths;     ///< (B), <eos> included
  Index target;             ///< (B, T): the words and <eos>, then <pad>
  Index target_lengths;     ///< (B), <eos> included
  std::int64_t tokens = 0;  ///< of the targets, <eos> included: those that count in the loss

  std::int64_t size() const { return source.dim(0); }
};

/// A sentence to test with: its words, and all right translations.
struct Question {
  Tokens source;
  std::vector<Tokens> answers;
};

/// The corpus, split, counted and numbered.
///
/// Threads: many may read from one object.
class Corpus {
 public:
  /// Reads the file; if it has fewer pairs than are to be learnt, all of them are, and none is held out. Throws
  /// IoError, DataError for a file without pairs, ValueError for counts below 0 or less than one step.
  explicit Corpus(const CorpusOptions& options);

  const Vocab& source_vocab() const { return source_vocab_; }
  const Vocab& target_vocab() const { return target_vocab_; }
  std::int64_t size() const { return source_.lengths.size(); }
  /// A number that tells the training pairs, as ids and in their order, from others.
  std::uint64_t fingerprint() const;

  /// The training pairs with these numbers, rows (B). Throws ValueError for one that is not there.
  CorpusBatch batch(const Index& rows) const;

  /// Sentences as the encoder reads them, (N, S) and (N). Unknown words become <unk>.
  CorpusBatch sources(const std::vector<Tokens>& sentences) const;

  /// The words that ids stand for, up to <eos>.
  Tokens words(std::span<const std::int64_t> target_ids) const;
  /// The same for each row of (N, L), as a search gives them. Throws ShapeError.
  std::vector<Tokens> sentences(const Index& target_ids) const;

  /// Pairs that training never sees, one question per source sentence.
  const std::vector<Question>& held_out() const { return held_out_; }
  /// The source sentences of these.
  std::vector<Tokens> held_out_sources() const;

  std::int64_t bos() const { return target_vocab_.id("<bos>"); }
  std::int64_t eos() const { return target_vocab_.id("<eos>"); }
  std::int64_t pad() const { return target_vocab_.id("<pad>"); }

 private:
  Corpus(const CorpusOptions& options, const Split& split);

  std::int64_t steps_;
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
/// ValueError unless there is one guess for each question, or for k < 1.
double mean_bleu(std::span<const Tokens> guesses, std::span<const Question> questions, int k);

}  // namespace xgrad::kit
