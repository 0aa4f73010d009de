// WordPieceTokenizer: the tokenizer of BERT (Schuster, Nakajima: "Japanese and Korean voice search", 2012; Devlin et
// al.: "BERT: Pre-training of deep bidirectional transformers for language understanding", 2019), from its file
// vocab.txt:
//
//     const kit::WordPieceTokenizer tokenizer("bert-base-uncased");       // a directory with this file
//     const Index ids = tokenizer.encode("A text.");                      // [CLS] a text . [SEP]
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/text/tokenizer.h>

namespace xgrad::kit {

/// A pair of texts as one input of a model.
struct EncodedPair {
  Index ids;       ///< (N)
  Index segments;  ///< (N): 0 for the first text, 1 for the second, as in nn::BertInputs
};

struct WordPieceOptions {
  bool lower_case = true;  ///< convert to lower case without accents, for models called uncased
};
/// Splits each word into tokens: first the longest token at the start of the word, then repeatedly the longest one at
/// the start of the rest. Tokens inside a word start with ##. A word that cannot be split, or has more than 100
/// characters, becomes [UNK]. The texts [PAD], [UNK], [CLS], [SEP] and [MASK] become their ids.
class WordPieceTokenizer final : public Tokenizer {
 public:
  using Options = WordPieceOptions;

  /// Reads vocab.txt, which has one token in each line, or a directory with this file. Throws what read_lines() throws;
  /// FormatError for a duplicate token and for a vocabulary without [UNK], [CLS] or [SEP].
  explicit WordPieceTokenizer(const std::filesystem::path& path, const Options& options = {});

  std::int64_t size() const override { return vocab_.size(); }
  /// The ids of [CLS] text [SEP]. Throws ValueError for text that is not UTF-8.
  Index encode(std::string_view text) const override;
  /// The ids of [CLS] first [SEP] second [SEP], where the last two parts are segment 1. Throws the same error.
  EncodedPair encode_pair(std::string_view first, std::string_view second) const;
  /// The words, separated by spaces, but without a space before . ? ! and ,; special tokens are omitted.
  std::string decode(const Index& ids) const override;

  const Vocab& vocab() const { return vocab_; }

 private:
  void put(std::string_view text, std::vector<std::int64_t>& ids) const;
  void put_words(std::string_view text, std::vector<std::int64_t>& ids) const;
  void put_word(std::string_view word, std::vector<std::int64_t>& ids) const;

  Vocab vocab_;
  Options options_;
  std::size_t longest_ = 0;  // token, in bytes
};

}  // namespace xgrad::kit
