// The tokenizer of BERT (Schuster, Nakajima: "Japanese and Korean voice search", 2012; Devlin and others: "BERT:
// Pre-training of deep bidirectional transformers for language understanding", 2019), from its file vocab.txt:
//
//     const kit::WordPieceTokenizer tokenizer("bert-base-uncased");       // a folder with the file
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

/// Two texts that a model reads as one.
struct EncodedPair {
  Index ids;       ///< (N)
  Index segments;  ///< (N): 0 for the first text, 1 for the second, as in nn::BertInputs
};

struct WordPieceOptions {
  bool lower_case = true;  ///< text becomes lower case without accents, as models called uncased expect
};
/// Words as the longest parts that are tokens: first the longest beginning of the word, then the longest beginnings of
/// the rest, whose tokens start with ##. A word with another rest, or of more than 100 characters, is [UNK]. [PAD],
/// [UNK], [CLS], [SEP] and [MASK] in a text become their ids.
class WordPieceTokenizer final : public Tokenizer {
 public:
  using Options = WordPieceOptions;

  /// Reads vocab.txt, a token in each line, or the folder with it. Throws what `read_lines` throws; FormatError for a
  /// token that is given twice and for a vocabulary without [UNK], [CLS] or [SEP].
  explicit WordPieceTokenizer(const std::filesystem::path& path, const Options& options = {});

  std::int64_t size() const override { return vocab_.size(); }
  /// [CLS] text [SEP]. Throws ValueError for text that is not UTF-8.
  Index encode(std::string_view text) const override;
  /// [CLS] first [SEP] second [SEP], the last two in segment 1. Throws likewise.
  EncodedPair encode_pair(std::string_view first, std::string_view second) const;
  /// Words with a space between them, but for . ? ! and , after a word; special tokens are left out.
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
