// Sentence pairs as arrays of word ids.
#pragma once

#include <string>
#include <vector>

#include <kit/text.h>
#include <xgrad/core/array.h>

#include "config.h"

namespace translate {

/// One batch: what the encoder reads, what the decoder is shown, and what it should say.
struct Batch {
  xgrad::Index source;          // (B, S)
  xgrad::Index source_lengths;  // (B), <eos> included
  xgrad::Index target_in;       // (B, T): <bos> and the words but the last
  xgrad::Index target_out;      // (B, T): the words and <eos>, then <pad>
  std::int64_t tokens = 0;      // that count in the loss
};

/// A sentence to judge by: its words, and everything that would be a right translation.
struct Question {
  kit::Tokens source;
  std::vector<kit::Tokens> answers;
};

/// The corpus, split, counted and numbered.
class Data {
 public:
  /// Reads the file; if it has fewer pairs than are to be learnt, all of them are, and none is held out. Throws
  /// kit::IoError, and kit::DataError for a file without pairs.
  explicit Data(const Config& config);

  const kit::Vocab& source_vocab() const { return source_vocab_; }
  const kit::Vocab& target_vocab() const { return target_vocab_; }
  std::int64_t size() const { return static_cast<std::int64_t>(source_.rows()); }

  /// The training pairs with these numbers.
  Batch batch(std::span<const std::size_t> rows) const;

  /// Sentences as the encoder reads them, (N, S) and (N). Unknown words become <unk>.
  Batch sources(const std::vector<kit::Tokens>& sentences) const;

  /// The words that ids stand for, up to <eos>.
  kit::Tokens words(std::span<const std::int64_t> target_ids) const;

  /// Pairs that training never sees, one question per source sentence.
  const std::vector<Question>& held_out() const { return held_out_; }

  std::int64_t bos() const { return target_vocab_.id("<bos>"); }
  std::int64_t eos() const { return target_vocab_.id("<eos>"); }
  std::int64_t pad() const { return target_vocab_.id("<pad>"); }

 private:
  Data(const Config& config, const kit::Split& split);

  std::size_t steps_;
  kit::Vocab source_vocab_, target_vocab_;
  kit::SentenceArray source_, target_;
  std::vector<Question> held_out_;
};

}  // namespace translate
