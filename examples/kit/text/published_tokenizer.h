// Tokenizers of published models, from their file tokenizer.json:
//
//     const kit::PublishedTokenizer tokenizer = kit::load_tokenizer("llama");       // a folder with the file
//     const Index ids = tokenizer.encode("A text.");                                // with <s> in front
//     const std::string text = tokenizer.decode(ids);                               // without it
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/text/tokenizer.h>

namespace xgrad::kit {

/// Whether to include the tokens that stand for no text, such as [CLS] and [SEP].
enum class SpecialTokens {
  with,     ///< encode() puts those around a text that the file asks for, decode() writes them
  without,  ///< encode() puts none around a text, decode() leaves them out
};

/// Two texts that a model reads as one.
struct EncodedPair {
  Index ids;       ///< (N)
  Index segments;  ///< (N): 0 or 1, as in nn::BertInputs, or as the file says
};

/// A tokenizer that the package `tokenizers` saved: byte-level BPE (GPT-2, Llama 3, Qwen2), BPE and unigram of
/// SentencePiece (Llama 2, Mistral; T5, XLM-R), WordPiece (BERT). Its ids are those that the package gives; truncation
/// and padding, which the file may have, too, are left to the caller.
///
/// An added token in the text becomes its id, special or not.
///
/// Threads: many may read from one object; copies share what they read.
class PublishedTokenizer final : public Tokenizer {
 public:
  /// The largest id plus one: the rows that an embedding needs at least.
  std::int64_t size() const override;
  /// With the special tokens that the file puts around one text. Throws ValueError for text that is not UTF-8, and for
  /// a character without a token if the file has none for unknown ones.
  Index encode(std::string_view text) const override { return encode(text, SpecialTokens::with); }
  Index encode(std::string_view text, SpecialTokens special) const;
  /// Two texts with special tokens, as the file joins them. Throws likewise.
  EncodedPair encode_pair(std::string_view first, std::string_view second) const;
  /// Without special tokens. Bytes that are not UTF-8, perhaps because a character's other bytes are in the next token,
  /// stay as they are; the package writes U+FFFD for them.
  std::string decode(const Index& ids) const override { return decode(ids, SpecialTokens::without); }
  std::string decode(const Index& ids, SpecialTokens special) const;

  /// A token as it stands in the file. Throws ValueError if there is no such id.
  const std::string& token(std::int64_t id) const;
  /// The id of a token as it stands in the file, such as "</s>". Throws ValueError if there is none.
  std::int64_t id(std::string_view token) const;

 private:
  friend PublishedTokenizer load_tokenizer(const std::filesystem::path& path);
  struct Parts;

  explicit PublishedTokenizer(std::shared_ptr<const Parts> parts);

  std::shared_ptr<const Parts> parts_;
};

/// Reads tokenizer.json, or the folder with it. Throws IoError; LimitError for more than 100 MB; FormatError, with the
/// way to the field, for files that are no JSON or have another form, ids given twice, a merge or a special token that
/// is not in the vocabulary, and for parts that are not supported: docs/language_models.md has the table.
PublishedTokenizer load_tokenizer(const std::filesystem::path& path);

}  // namespace xgrad::kit
