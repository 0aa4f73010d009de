// Tokenizers, which convert text to ids for a model and back: by characters, by words, by byte pair encoding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/text/text.h>

namespace xgrad::kit {

/// The base class of tokenizers: text -> ids 0 ... size() - 1 -> text.
///
/// Threads: several threads may read one object.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// The number of tokens.
  virtual std::int64_t size() const = 0;
  /// The ids of a text, (N). Throws ValueError for a text that cannot be encoded.
  virtual Index encode(std::string_view text) const = 0;
  /// The text of ids (N). Throws ShapeError for another shape, ValueError for an id out of range.
  virtual std::string decode(const Index& ids) const = 0;

 protected:
  /// Throws the errors of decode().
  void check_ids(const Index& ids) const;
};

/// A tokenizer whose tokens are characters, with ids in the order of Unicode. `decode` returns the text that was
/// encoded.
class CharacterTokenizer final : public Tokenizer {
 public:
  /// Its tokens are the characters of a text. Throws ValueError unless the text is UTF-8.
  explicit CharacterTokenizer(std::string_view text);

  std::int64_t size() const override { return static_cast<std::int64_t>(characters_.size()); }
  /// Throws ValueError for text that is not UTF-8 and for an unknown character.
  Index encode(std::string_view text) const override;
  std::string decode(const Index& ids) const override;

 private:
  std::u32string characters_;  // sorted
};

/// Splits text into words. Words are in lower case and consist of letters, digits and the apostrophes between them.
/// Every other character that is not white space is a separate word: "Don't stop!" -> don't stop !  Throws ValueError
/// unless the text is UTF-8.
Tokens running_words(std::string_view text);

struct WordTokenizerOptions {
  int min_freq = 1;             ///< words that occur less often are unknown
  Tokens reserved = {"<unk>"};  ///< the first ids, as in a Vocab
};
/// A tokenizer whose tokens are the words of a vocabulary. `decode` puts spaces between words.
class WordTokenizer final : public Tokenizer {
 public:
  using Options = WordTokenizerOptions;

  /// Counts the words of a text (see running_words). Throws ValueError unless it is UTF-8, and for a duplicate reserved
  /// word.
  explicit WordTokenizer(std::string_view text, const Options& options = {});
  /// A tokenizer with an existing vocabulary, for example from a file.
  explicit WordTokenizer(Vocab vocab) : vocab_(std::move(vocab)) {}

  std::int64_t size() const override { return vocab_.size(); }
  /// Throws ValueError for text that is not UTF-8, and for an unknown word if <unk> is not reserved.
  Index encode(std::string_view text) const override;
  std::string decode(const Index& ids) const override;

  const Vocab& vocab() const { return vocab_; }

 private:
  Vocab vocab_;
};

namespace detail {
/// The characters of GPT-2's files for bytes: ! to ~, U+00A1 to U+00AC and U+00AE to U+00FF stand for themselves; the
/// other bytes are, in their order, U+0100 and up. The result is UTF-8: a space is "Ġ".
std::string byte_text(std::string_view bytes);

/// The bytes that such a text represents; nothing if one of its characters represents no byte.
std::optional<std::string> bytes_of_text(std::string_view text);
}  // namespace detail

class Pattern;

struct BpeOptions {
  Tokens special = {"<|endoftext|>"};  ///< tokens of the vocabulary that are never split into parts
};
struct BpeTrainingOptions {
  std::int64_t size = 512;             ///< number of tokens, including 256 bytes; fewer if the text has no more pairs
  std::int64_t min_freq = 1;           ///< a pair that occurs less often is not merged
  Tokens special = {"<|endoftext|>"};  ///< the first ids
};
/// Byte pair encoding (BPE) of bytes, as in GPT-2 (Sennrich, Haddow, Birch 2016; Radford et al. 2019). A word is first
/// split into its bytes. Then the pair of neighbours that was learnt first is merged, repeatedly, until no known pair
/// is left. All byte sequences can be encoded and decoded. A special token in the text becomes its id.
class BpeTokenizer final : public Tokenizer {
 public:
  using Options = BpeOptions;
  using TrainingOptions = BpeTrainingOptions;

  /// Learns merges from a text: the most frequent pair of tokens becomes a token, until there are `size`. Of equally
  /// frequent pairs, the one with the smallest ids is merged. The ids have the order of the package `tokenizers`:
  /// special tokens, bytes, merges. Throws ValueError for a size smaller than the number of bytes and special tokens,
  /// and for an empty or duplicate special token.
  static BpeTokenizer train(std::string_view text, const TrainingOptions& options = {});

  /// Reads the two files of GPT-2, vocab.json and merges.txt. Throws IoError, and LimitError for more than 100 MB of
  /// JSON. Throws FormatError for files in another format, duplicate or missing ids, a byte without a token, and a
  /// merge or special token that is not in the vocabulary.
  static BpeTokenizer read(const std::filesystem::path& vocab, const std::filesystem::path& merges,
                           const Options& options = {});

  /// Reads tokenizer.json of the package `tokenizers`, or a directory with this file, for byte-level BPE: GPT-2, Llama
  /// 3, Qwen 2, GPT-4o. Added tokens are special; truncation and padding are ignored. The file may have
  /// - the normalizer NFC or none,
  /// - the pre-tokenizer ByteLevel, also after Split by a regular expression (with the syntax of PCRE2),
  /// - the post-processor ByteLevel, TemplateProcessing with tokens before the text, or both,
  /// - the decoder ByteLevel.
  /// Throws the same errors, and FormatError, which names the part, for all other parts.
  static BpeTokenizer read(const std::filesystem::path& path);

  /// Writes the two files that `read` takes. Throws IoError, and ValueError for a tokenizer with parts that GPT-2
  /// lacks, or two tokens of equal text, because these files cannot represent it.
  void save(const std::filesystem::path& vocab, const std::filesystem::path& merges) const;

  std::int64_t size() const override { return static_cast<std::int64_t>(parts_.tokens.size()); }
  /// The ids of a text, after the ids that the file puts before each text, for example <|begin_of_text|> of Llama 3.
  /// With the normalizer NFC, for example in Qwen 2, throws ValueError for text that is not UTF-8.
  Index encode(std::string_view text) const override;
  /// The text of ids, including special tokens.
  std::string decode(const Index& ids) const override;

  /// The bytes of a token. Throws ValueError if there is no such id.
  std::string token(std::int64_t id) const;
  /// The id of a special token. Throws ValueError if there is no such token.
  std::int64_t special(std::string_view token) const;
  /// Pairs of ids in the order in which they are merged.
  const std::vector<std::array<std::int64_t, 2>>& merges() const { return parts_.merges; }

 private:
  /// The content of the files. The functions that make it check that the parts are consistent.
  struct Parts {
    std::vector<std::string> tokens;                  ///< the bytes of each id
    std::vector<std::array<std::int64_t, 2>> merges;  ///< pairs of ids, in the order of merging
    std::vector<std::int64_t> results;                ///< the id that results from each merge
    std::vector<std::int64_t> special;                ///< the ids of special tokens
    std::vector<std::int64_t> start;                  ///< the ids before each text
    std::shared_ptr<const Pattern> pattern = {};      ///< how text is split into words; by default as in GPT-2
    bool whole_words = false;                         ///< whether a word that is a token is encoded without merges
    bool composes = false;                            ///< text is converted to the normal form C of Unicode
  };
  class Reader;
  /// A merge of two neighbours.
  struct Merge {
    std::int64_t rank;  ///< the place of the pair in the order of merging
    std::int64_t result;
  };

  explicit BpeTokenizer(Parts parts);
  void encode_plain(std::string_view text, std::vector<std::int64_t>& ids) const;
  void merge_word(std::string_view word, std::vector<std::int64_t>& ids) const;

  Parts parts_;
  std::array<std::int64_t, 256> bytes_{};
  std::unordered_map<std::string, std::int64_t> words_;  // ids of tokens, if parts_.whole_words
  std::unordered_map<std::uint64_t, Merge> merges_;      // by both ids
};

}  // namespace xgrad::kit
