// Text for translation: words, vocabulary, arrays of ids.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/array/array.h>

namespace xgrad::kit {

/// The words of one sentence.
using Tokens = std::vector<std::string>;

/// Lower case of UTF-8 text, character by character as Unicode has it.
std::string lower_case(std::string_view text);

/// Sentence -> text whose words and marks are separated by spaces: lower case, no-break spaces made plain, and a space
/// before each of , . ! ? that has none: "Ça va, Tom ?" -> "ça va , tom ?".
std::string preprocess(std::string_view sentence);

/// The words of a preprocessed sentence, separated by spaces.
Tokens words(std::string_view text);

/// The words of a list of words as one text, a space between them.
std::string joined(std::span<const std::string> tokens);

struct VocabOptions {
  int min_freq = 1;  ///< tokens seen fewer times are unknown
  Tokens reserved = {"<pad>", "<bos>", "<eos>", "<unk>"};
};
/// One-to-one map between tokens and the ids 0, 1, 2, ...
///
/// Threads: many may read from one object.
class Vocab {
 public:
  using Options = VocabOptions;

  /// Counts the tokens of all sentences. The reserved tokens get the first ids, in the order given; then come the
  /// others by falling frequency, equally frequent ones in byte order, so that ids depend on the counts alone and not
  /// on the order of the sentences. Throws ValueError if a reserved token is given twice.
  explicit Vocab(std::span<const Tokens> sentences, const Options& options = {});

  /// The vocabulary with these tokens in the order of their ids, as `tokens()` gave them: for files that keep one.
  /// Throws ValueError if a token is given twice.
  explicit Vocab(Tokens tokens_by_id);

  /// The number of tokens.
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

  /// The id of a token, or the id of <unk>. Throws ValueError for an unknown token if <unk> is not reserved.
  std::int64_t id(std::string_view token) const;

  /// The token with this id. Throws ValueError if there is none.
  std::string token(std::int64_t id) const;

  /// True if the token has an id of its own.
  bool contains(std::string_view token) const { return ids_.find(token) != ids_.end(); }

  /// All tokens in the order of their ids.
  const Tokens& tokens() const& { return tokens_; }
  Tokens tokens() && { return std::move(tokens_); }

 private:
  Tokens tokens_;
  std::map<std::string, std::int64_t, std::less<>> ids_;
};

/// Sentences as ids, one row each.
struct SentenceArray {
  Index ids;      ///< (N, T)
  Index lengths;  ///< (N): tokens before the padding, <eos> included
};

/// The ids of each sentence, <eos> appended, then cut or padded with <pad> to `steps`. As in the book, a sentence of
/// `steps` tokens or more loses its end, <eos> included. Throws ValueError if the vocabulary lacks <eos> or <pad>, or
/// for less than one step.
SentenceArray to_array(std::span<const Tokens> sentences, const Vocab& vocab, std::int64_t steps);

}  // namespace xgrad::kit
