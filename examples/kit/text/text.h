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

/// Converts UTF-8 text to lower case, character by character by the rules of Unicode.
std::string lower_case(std::string_view text);

/// Separates words and punctuation of a sentence by spaces: converts to lower case, replaces no-break spaces, and adds
/// a space before each of , . ! ? that has none. "Ça va, Tom ?" -> "ça va , tom ?".
std::string preprocess(std::string_view sentence);

/// Splits a preprocessed sentence at spaces.
Tokens words(std::string_view text);

/// Joins words by spaces.
std::string joined(std::span<const std::string> tokens);

struct VocabOptions {
  int min_freq = 1;  ///< tokens that occur less often are unknown
  Tokens reserved = {"<pad>", "<bos>", "<eos>", "<unk>"};
};
/// A one-to-one map between tokens and the ids 0, 1, 2, ...
///
/// Threads: several threads may read one object.
class Vocab {
 public:
  using Options = VocabOptions;

  /// Counts the tokens of all sentences. The reserved tokens get the first ids, in the given order. The others follow
  /// by descending frequency, with equal frequencies in byte order. So the ids depend only on the counts, not on the
  /// order of the sentences. Throws ValueError for a duplicate reserved token.
  explicit Vocab(std::span<const Tokens> sentences, const Options& options = {});

  /// The vocabulary with these tokens in the order of their ids, for example from a file. Throws ValueError for a
  /// duplicate token.
  explicit Vocab(Tokens tokens_by_id);

  /// The number of tokens.
  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }

  /// The id of a token, or the id of <unk>. Throws ValueError for an unknown token if <unk> is not reserved.
  std::int64_t id(std::string_view token) const;

  /// The token with this id. Throws ValueError if there is none.
  std::string token(std::int64_t id) const;

  /// Whether the token has an id.
  bool contains(std::string_view token) const { return ids_.find(token) != ids_.end(); }

  /// All tokens in the order of their ids.
  const Tokens& tokens() const& { return tokens_; }
  Tokens tokens() && { return std::move(tokens_); }

 private:
  Tokens tokens_;
  std::map<std::string, std::int64_t, std::less<>> ids_;
};

/// Sentences as ids, one in each row.
struct SentenceArray {
  Index ids;      ///< (N, T)
  Index lengths;  ///< (N): number of tokens before the padding, including <eos>
};

/// The ids of each sentence with <eos> appended, truncated or padded with <pad> to `steps`. A sentence of `steps`
/// tokens or more loses its end, including <eos>, as in "Dive into Deep Learning". Throws ValueError if the vocabulary
/// has no <eos> or <pad>, or for less than one step.
SentenceArray to_array(std::span<const Tokens> sentences, const Vocab& vocab, std::int64_t steps);

}  // namespace xgrad::kit
