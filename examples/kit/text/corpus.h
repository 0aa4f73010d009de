// Corpus: sentence pairs as arrays of word ids, for training and testing the examples that translate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/text/text.h>

namespace xgrad::kit {

/// Which sentences of a file a Corpus uses, and in which form.
struct CorpusOptions {
  std::filesystem::path file = {};  ///< lines of source<TAB>target: Tatoeba, ManyThings.org
  std::int64_t pairs = 600;         ///< number of training pairs, from the start of the file; held-out pairs follow
  std::int64_t held_out = 100;      ///< maximum number of held-out pairs, for testing
  std::int64_t steps = 10;          ///< T and S: tokens of a sentence, including <eos>
  int min_freq = 2;                 ///< words that occur less often become <unk>
};

class Options;

/// Declares --data, --pairs and --held-out.
void add_corpus_options(Options& options, CorpusOptions& config);

namespace detail {
/// A sentence and one of its translations.
struct SentencePair {
  std::string source;
  std::string target;

  friend bool operator==(const SentencePair&, const SentencePair&) = default;
};

/// The pairs of a file with lines `source<TAB>target`, as Tatoeba and ManyThings.org give them: UTF-8, further columns
/// ignored, empty lines skipped, a byte order mark, CRLF and no-break spaces (U+00A0, U+202F) accepted, gzip unpacked
/// on the way. Throws what `read_lines` throws, and DataError, which names the line, for a line that is no pair.
std::vector<SentencePair> read_pairs(const std::filesystem::path& path);

/// Pairs to train on, and pairs held out to test the result.
struct Split {
  std::vector<SentencePair> train;
  std::vector<SentencePair> held_out;
};

/// The first `count` pairs are for training. Of the others, those with a new source sentence (preprocessed) are held
/// out.
Split split_at(std::span<const SentencePair> pairs, std::size_t count);
}  // namespace detail

/// A batch: the input of the encoder and the target of the decoder. The input of the decoder is nn::shift_right(target,
/// bos).
struct CorpusBatch {
  Index source;             ///< (B, S)
  Index source_lengths;     ///< (B), including <eos>
  Index target;             ///< (B, T): the words and <eos>, then <pad>
  Index target_lengths;     ///< (B), including <eos>
  std::int64_t tokens = 0;  ///< number of target tokens that count in the loss, including <eos>

  std::int64_t size() const { return source.dim(0); }
};

/// A test sentence: its words, and all correct translations.
struct Question {
  Tokens source;
  std::vector<Tokens> answers;
};

/// The corpus, split into training and held-out pairs, with words as ids.
///
/// Threads: several threads may read one object.
class Corpus {
 public:
  /// Reads the file. If it has at most `pairs` pairs, all are for training and none is held out. Throws IoError,
  /// DataError for a file without pairs, ValueError for negative counts or less than one step.
  explicit Corpus(const CorpusOptions& options);

  const Vocab& source_vocab() const { return source_vocab_; }
  const Vocab& target_vocab() const { return target_vocab_; }
  std::int64_t size() const { return source_.lengths.size(); }
  /// A hash of the training pairs, as ids and in their order.
  std::uint64_t fingerprint() const;

  /// The training pairs with these numbers, rows (B). Throws ValueError if there is no such pair.
  CorpusBatch batch(const Index& rows) const;

  /// Sentences as input of the encoder, (N, S), with their lengths (N). Unknown words become <unk>.
  CorpusBatch sources(const std::vector<Tokens>& sentences) const;

  /// The words of the ids before <eos>.
  Tokens words(std::span<const std::int64_t> target_ids) const;
  /// The words of each row of (N, L), the result of a search. Throws ShapeError.
  std::vector<Tokens> sentences(const Index& target_ids) const;

  /// The held-out pairs, which training never uses, as one question per source sentence.
  const std::vector<Question>& held_out() const { return held_out_; }
  /// The source sentences of the held-out pairs.
  std::vector<Tokens> held_out_sources() const;

  std::int64_t bos() const { return target_vocab_.id("<bos>"); }
  std::int64_t eos() const { return target_vocab_.id("<eos>"); }
  std::int64_t pad() const { return target_vocab_.id("<pad>"); }

 private:
  Corpus(const CorpusOptions& options, const detail::Split& split);

  std::int64_t steps_;
  Vocab source_vocab_, target_vocab_;
  SentenceArray source_, target_;
  std::vector<Question> held_out_;
};

/// Four sentences that every model trained on the corpus should translate correctly, with the translations of "Dive
/// into Deep Learning".
struct KnownPair {
  const char* source;
  const char* target;
};
inline constexpr std::array<KnownPair, 4> known_pairs{{{"go .", "va !"},
                                                       {"i lost .", "j'ai perdu ."},
                                                       {"he's calm .", "il est calme ."},
                                                       {"i'm home .", "je suis chez moi ."}}};

/// The mean over all questions of the best BLEU between a prediction and the answers; 0 without questions. Throws
/// ValueError unless there is one prediction for each question, or for k < 1.
double mean_bleu(std::span<const Tokens> guesses, std::span<const Question> questions, int k);

}  // namespace xgrad::kit
