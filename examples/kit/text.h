// Text for translation: reading sentence pairs, words, vocabulary, arrays of ids, shuffling, held-out sentences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kit {

using Tokens = std::vector<std::string>;  ///< the words of one sentence

/// A sentence and one of its translations.
struct SentencePair {
  std::string source;
  std::string target;

  friend bool operator==(const SentencePair&, const SentencePair&) = default;
};

/// The lines of a text file without their ends: UTF-8, with or without a byte order mark, lines ended by LF or CRLF,
/// gzip unpacked on the way. Throws IoError if the file cannot be read, is no regular file or its gzip data is damaged,
/// DataError with the line if it is not such text.
std::vector<std::string> read_lines(const std::filesystem::path& path);

/// Reads the first `count` pairs of a file with lines `source<TAB>target`, as Tatoeba and ManyThings.org give them:
/// UTF-8, further columns ignored, empty lines skipped, a byte order mark, CRLF and no-break spaces (U+00A0, U+202F)
/// accepted, gzip unpacked on the way. Throws what `read_lines` throws, and DataError with the line for one that is no
/// pair.
std::vector<SentencePair> read_pairs(const std::filesystem::path& path,
                                     std::size_t count = std::numeric_limits<std::size_t>::max());

/// Lower case of UTF-8 text: ASCII, Latin-1 and Latin Extended-A (so all of French); other letters stay as they are.
std::string lower_case(std::string_view text);

/// Sentence -> text whose words and marks are separated by spaces: lower case, no-break spaces made plain, and a space
/// before each of , . ! ? that has none: "Ça va, Tom ?" -> "ça va , tom ?".
std::string preprocess(std::string_view sentence);

/// The words of a preprocessed sentence: what stands between spaces.
Tokens words(std::string_view text);

/// A number that tells texts apart: FNV-1a in 64 bits. Given the fingerprint of what stands before, that of both.
std::uint64_t fingerprint(std::string_view text, std::uint64_t before = 0xcbf29ce484222325);

/// The words of a list of words as one text, a space between them.
std::string joined(std::span<const std::string> tokens);

/// One-to-one map between tokens and the ids 0, 1, 2, ...
class Vocab {
 public:
  struct Options {
    int min_freq = 1;  ///< tokens seen fewer times are unknown
    Tokens reserved = {"<pad>", "<bos>", "<eos>", "<unk>"};
  };

  /// Counts the tokens of all sentences. The reserved tokens get the first ids, in the order given; then come the
  /// others by falling frequency, equally frequent ones in byte order, so that ids depend on the counts alone and not
  /// on the order of the sentences. Throws std::invalid_argument if a reserved token is given twice.
  explicit Vocab(std::span<const Tokens> sentences) : Vocab(sentences, Options{}) {}
  Vocab(std::span<const Tokens> sentences, const Options& options);

  /// The vocabulary with these tokens in the order of their ids, as `tokens()` gave them: for files that keep one.
  explicit Vocab(Tokens tokens_by_id);

  /// The number of tokens.
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

  /// The id of a token, or the id of <unk>. Throws std::out_of_range for an unknown token if <unk> is not reserved.
  std::int64_t id(std::string_view token) const;

  /// The token with this id. Throws std::out_of_range if there is none.
  const std::string& token(std::int64_t id) const;

  /// True if the token has an id of its own.
  bool contains(std::string_view token) const { return ids_.find(token) != ids_.end(); }

  /// All tokens in the order of their ids.
  const Tokens& tokens() const { return tokens_; }

 private:
  Tokens tokens_;
  std::map<std::string, std::int64_t, std::less<>> ids_;
};

/// A sequence cut, or filled with `padding` at the end, to exactly `steps` ids.
std::vector<std::int64_t> truncate_pad(std::vector<std::int64_t> ids, std::size_t steps, std::int64_t padding);

/// Sentences as ids, one row each.
struct SentenceArray {
  std::size_t steps = 0;                   ///< the length of a row, T
  std::vector<std::int64_t> ids = {};      ///< (N, T), row after row
  std::vector<std::int64_t> lengths = {};  ///< (N): tokens before the padding, <eos> included

  /// N, the number of sentences.
  std::size_t rows() const { return lengths.size(); }

  /// The rows with these numbers, in this order: a batch. Throws std::out_of_range for a row that is not there.
  SentenceArray take(std::span<const std::size_t> rows) const;

  /// The rows shifted right by one, beginning with `bos` and without the last id: what a decoder sees when it is taught
  /// to predict `ids`.
  std::vector<std::int64_t> shifted(std::int64_t bos) const;
};

/// The ids of each sentence, <eos> appended, then cut or padded with <pad> to `steps`. As in the book, a sentence of
/// `steps` tokens or more loses its end, <eos> included. Throws std::out_of_range if the vocabulary lacks <eos> or
/// <pad>, std::invalid_argument if steps is 0.
SentenceArray to_array(std::span<const Tokens> sentences, const Vocab& vocab, std::size_t steps);

/// A number in [0, bound), each equally likely, from a 64-bit generator. The same on every compiler, which the
/// distributions and std::shuffle of the standard library are not. Throws std::invalid_argument if bound is 0.
template <std::uniform_random_bit_generator Generator>
std::uint64_t uniform_below(std::uint64_t bound, Generator& generator) {
  static_assert(Generator::min() == 0 && Generator::max() == ~std::uint64_t{0}, "needs a 64-bit generator");
  if (bound == 0) throw std::invalid_argument("uniform_below: no number is below 0");
  // 2^64 is no multiple of bound: the first 2^64 mod bound numbers are drawn again, or small results would be favoured.
  const std::uint64_t surplus = (0 - bound) % bound;
  std::uint64_t drawn = generator();
  while (drawn < surplus) drawn = generator();
  return drawn % bound;
}

/// The numbers 0 .. count-1 in random order (Fisher-Yates): the order of sentences for one epoch. Equal generators give
/// equal orders on every compiler.
template <std::uniform_random_bit_generator Generator>
std::vector<std::size_t> permutation(std::size_t count, Generator& generator) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[uniform_below(i, generator)]);
  return order;
}

/// Pairs to train on, and pairs kept away from training to judge the result.
struct Split {
  std::vector<SentencePair> train;
  std::vector<SentencePair> held_out;
};

/// The first `count` pairs for training, those of the others whose source sentence (preprocessed) is not among them
/// held out.
Split split_at(std::span<const SentencePair> pairs, std::size_t count);

/// About `held_out` randomly drawn pairs held out, the others for training, both in the order given. All translations
/// of one source sentence go to the same side, so that nothing held out was seen; the last sentence drawn may bring a
/// few pairs more.
Split split_randomly(std::span<const SentencePair> pairs, std::size_t held_out, std::uint64_t seed);

}  // namespace kit
