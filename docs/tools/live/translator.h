// The translator of examples/translate, and all that its beam search sees.
#pragma once

#include <vector>

#include <xgrad/kit/text/text.h>
#include <xgrad/xgrad.h>

namespace live {

struct SearchOptions {
  std::int64_t beams = 4;
  double length_penalty = 0.75;
};

/// A prefix that a search continued.
struct Prefix {
  std::vector<std::int64_t> tokens = {};
  double log_p = 0;
  std::int64_t parent = 0;  ///< the prefix of the step before that it continues
};
/// One step of a search: the prefixes that it read, and ln p of the next token after each, (prefixes, V).
struct SearchStep {
  std::vector<Prefix> prefixes = {};
  xgrad::Array log_p = {};
};
struct Found {
  xgrad::nn::Hypotheses hypotheses;     ///< all that were complete when the search ended, the best first
  std::vector<SearchStep> steps;        ///< Hypothesis::rows are numbers of prefixes
  std::vector<xgrad::Array> attention;  ///< cross-attention by step and layer, each (prefixes, H, 1, S)
};

/// A trained model with its words.
class Translator {
 public:
  /// From what docs/tools/translator writes: parameters, and in the metadata `about` the words and the length of
  /// sentences. Throws FormatError for parameters that do not fit, and what the JSON library throws.
  explicit Translator(const xgrad::StateFile& file);

  /// Beam search for the translation of words, those that are not known as <unk>. Throws ValueError for no word and for
  /// more than max_words(), and what nn::beam_search throws.
  Found search(const xgrad::kit::Tokens& words, const SearchOptions& options) const;

  std::int64_t max_words() const { return steps_ - 1; }
  std::int64_t layers() const { return std::ssize(model_.decoder.blocks); }
  std::int64_t parameters() const { return model_.num_parameters(); }
  const xgrad::kit::Vocab& source() const { return source_; }
  const xgrad::kit::Vocab& target() const { return target_; }
  xgrad::kit::Tokens words_of(const std::vector<std::int64_t>& tokens) const;

 private:
  xgrad::kit::Vocab source_, target_;
  std::int64_t steps_;  // words and <eos>
  xgrad::nn::EncoderDecoder model_;
};

}  // namespace live
