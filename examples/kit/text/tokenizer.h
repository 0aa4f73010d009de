// Tokenizers: text as ids that a model reads, and back: by characters, by words, by pairs of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/text/merges.h>
#include <xgrad/kit/text/text.h>

namespace xgrad::kit {

/// Text -> ids 0 ... size() - 1 -> text.
///
/// Threads: many may read from one object.
class Tokenizer {
 public:
  Tokenizer() = default;
  Tokenizer(const Tokenizer&) = default;
  Tokenizer(Tokenizer&&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  Tokenizer& operator=(Tokenizer&&) = default;
  virtual ~Tokenizer() = default;

  /// The number of tokens.
  virtual std::int64_t size() const = 0;
  /// The ids of a text, (N). Throws ValueError for a text that has none.
  virtual Index encode(std::string_view text) const = 0;
  /// The text of ids (N). Throws ShapeError for another shape, ValueError for an id that is not there.
  virtual std::string decode(const Index& ids) const = 0;
};

/// Every character is a token; ids are in the order of Unicode. `decode` gives back the text that was encoded.
class CharacterTokenizer final : public Tokenizer {
 public:
  /// The characters that occur in a text. Throws ValueError unless it is UTF-8.
  explicit CharacterTokenizer(std::string_view text);

  std::int64_t size() const override { return static_cast<std::int64_t>(characters_.size()); }
  /// Throws ValueError for text that is not UTF-8, and for a character that is not known.
  Index encode(std::string_view text) const override;
  std::string decode(const Index& ids) const override;

  /// All characters in the order of their ids: a text that makes the same tokenizer again.
  std::string characters() const;

 private:
  std::u32string characters_;  // sorted
};

/// The words of a running text: in lower case, letters, digits and the apostrophes between them; every other character
/// that is no white space is a word of its own: "Don't stop!" -> don't stop !  Throws ValueError unless it is UTF-8.
Tokens running_words(std::string_view text);

struct WordTokenizerOptions {
  int min_freq = 1;             ///< words seen fewer times are unknown
  Tokens reserved = {"<unk>"};  ///< the first ids, as those of a Vocab
};
/// The words of running text by the numbers of a vocabulary. `decode` puts a space between words.
class WordTokenizer final : public Tokenizer {
 public:
  using Options = WordTokenizerOptions;

  /// Counts the words of a text (`running_words`). Throws ValueError unless it is UTF-8, or if a reserved word is given
  /// twice.
  explicit WordTokenizer(std::string_view text, const Options& options = {});
  /// The tokenizer with a vocabulary that was kept.
  explicit WordTokenizer(Vocab vocab) : vocab_(std::move(vocab)) {}

  std::int64_t size() const override { return vocab_.size(); }
  /// Throws ValueError for text that is not UTF-8, and for an unknown word if <unk> is not reserved.
  Index encode(std::string_view text) const override;
  std::string decode(const Index& ids) const override;

  const Vocab& vocab() const { return vocab_; }

 private:
  Vocab vocab_;
};

class Pattern;

struct BpeOptions {
  Tokens special = {"<|endoftext|>"};  ///< tokens that stand for themselves, never for letters: the vocabulary has them
};
struct BpeTrainingOptions {
  std::int64_t size = 512;             ///< tokens, 256 of them bytes; fewer if the text has no more pairs
  std::int64_t min_freq = 1;           ///< a pair seen fewer times is not merged
  Tokens special = {"<|endoftext|>"};  ///< the first ids
};
/// Byte pair encoding of bytes, as in GPT-2 (Sennrich, Haddow, Birch 2016; Radford et al. 2019). A word begins as its
/// bytes. Of all pairs of neighbours, the pair that was learnt first is merged, until no pair is left. Any bytes can be
/// encoded and decoded. A special token in the text becomes its id.
class BpeTokenizer final : public Tokenizer {
 public:
  using Options = BpeOptions;
  using TrainingOptions = BpeTrainingOptions;

  /// Learns merges from a text: the most frequent pair of tokens (of equal ones the pair with the smallest ids) becomes
  /// a token, until there are `size`. The ids are those of the package `tokenizers`: special tokens, bytes, merges.
  /// Throws ValueError for a size below bytes and special tokens, and for a special token that is empty or given twice.
  static BpeTokenizer train(std::string_view text, const TrainingOptions& options = {});

  /// Reads the two files of GPT-2, vocab.json and merges.txt. Throws IoError; LimitError for more than 100 MB of JSON;
  /// FormatError for files of another form, ids given twice or left out, a byte without a token, and a merge or special
  /// token that is not in the vocabulary.
  static BpeTokenizer read(const std::filesystem::path& vocab, const std::filesystem::path& merges,
                           const Options& options = {});

  /// Reads tokenizer.json of the package `tokenizers`, or its folder, for byte-level BPE: GPT-2, Llama 3, Qwen 2,
  /// GPT-4o. Added tokens are special; truncation and padding are ignored. Supported are: normalizer NFC or none;
  /// pre-tokenizer ByteLevel, also after Split by a regular expression (in the syntax of PCRE2); post-processor
  /// ByteLevel, TemplateProcessing with tokens before the text, or both; decoder ByteLevel. Throws as above, and
  /// FormatError that names another part.
  static BpeTokenizer read(const std::filesystem::path& path);

  /// Writes the two files that `read` takes. Throws IoError, and ValueError unless the tokenizer is like that of GPT-2.
  void save(const std::filesystem::path& vocab, const std::filesystem::path& merges) const;

  std::int64_t size() const override { return static_cast<std::int64_t>(parts_.tokens.size()); }
  /// The ids of a text, after the ids that the file puts before each text, as <|begin_of_text|> of Llama 3. Throws
  /// ValueError for text that is not UTF-8 where the file has the normalizer NFC, as Qwen 2.
  Index encode(std::string_view text) const override;
  /// The text of ids, special tokens included.
  std::string decode(const Index& ids) const override;

  /// The bytes that an id stands for. Throws ValueError if there is no such id.
  std::string token(std::int64_t id) const;
  /// The id of a special token. Throws ValueError if there is none.
  std::int64_t special(std::string_view token) const;
  /// Pairs of ids in the order in which they are merged.
  const std::vector<std::array<std::int64_t, 2>>& merges() const { return parts_.merges; }

 private:
  /// The content of the files; its makers have checked that the parts fit together.
  struct Parts {
    std::vector<std::string> tokens;                  ///< bytes by id
    std::vector<std::array<std::int64_t, 2>> merges;  ///< pairs of ids, the first to be merged first
    std::vector<std::int64_t> results;                ///< of each merge
    std::vector<std::int64_t> special;                ///< ids
    std::vector<std::int64_t> start;                  ///< ids before each text
    std::shared_ptr<const Pattern> pattern = {};      ///< of words; GPT-2's if there is none
    bool whole_words = false;                         ///< a word that is a token is not put together by merges
    bool composes = false;                            ///< text gets the normal form C
  };
  class Reader;

  explicit BpeTokenizer(Parts parts);
  void encode_plain(std::string_view text, std::vector<std::int64_t>& ids) const;
  void merge_word(std::string_view word, std::vector<std::int64_t>& ids) const;

  Parts parts_;
  std::array<std::int64_t, 256> bytes_{};
  std::unordered_map<std::string, std::int64_t> words_;  // the tokens, where whole words are taken
  Merges merges_;
};

}  // namespace xgrad::kit
