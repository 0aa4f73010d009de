// LanguageModel: the base of models that predict the next token of a text, nn::Gpt and nn::Llama.
//
//     auto text = model.start(prompt);                                              // (B, T)
//     const nn::Decoded more = nn::sample(text, {.max_length = 100, .temperature = 0.8, .top_k = 40});
#pragma once

#include <optional>
#include <vector>

#include "../attention/key_value_cache.h"
#include "../decoding/decode.h"
#include "../layers/positions.h"

namespace xgrad::nn {

class LanguageStepper;

namespace detail {
/// Of the first weights of GPT-2, BERT and Llama, which are normal.
inline constexpr double first_std = 0.02;
Init first_weights();
/// Parameters for the positions, with these first weights.
inline PositionalEncodingOptions learned(double dropout = 0) {
  return {.kind = Positions::learned, .dropout = dropout, .init = first_weights()};
}
/// Gives all linear maps of a model these weights, and biases 0.
void reset_linear_maps(const Module& model);
/// Throws ShapeError unless ids are (B, T).
void check_ids(const char* op, const Index& ids, const char* name = "ids");
}  // namespace detail

/// The state of a language model in the middle of B texts. When a step or select() throws, it is unchanged.
struct LanguageState {
  std::vector<KeyValueCache> blocks;
  std::int64_t batch = 0;     ///< B
  std::int64_t position = 0;  ///< of the next token

  std::int64_t length() const { return position; }
  /// Keeps only the first `length` positions. Throws ValueError if there are fewer.
  void rewind(std::int64_t length);
  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

/// A model that gives, for every position of a text, the logits of the token that comes next.
class LanguageModel : public Module {
 public:
  /// All positions at once: ids (B, T) -> logits (B, T, V), at position t from the ids 0 ... t. Throws ShapeError
  /// unless ids are (B, T), ValueError for an id outside the vocabulary or more positions than the context has.
  Tensor operator()(const Index& ids) const;
  /// Step by step: ids (B, T) are the next T >= 1 tokens of the texts -> logits (B, V) of the one after them, the same
  /// as those of the last position in one pass. Throws as above, and ShapeError if ids are of another batch size than
  /// the state.
  Tensor next(const Index& ids, LanguageState& state) const;
  /// The maximum number of positions of a text.
  virtual std::int64_t context() const = 0;

  /// The state before the first token of B texts, with room for the context, at first for 4096 positions of it. Throws
  /// ValueError for a negative B.
  LanguageState begin(std::int64_t batch) const;
  /// Texts that begin with these tokens, (B, T), for greedy(), sample() and beam_search(): they continue the prompt, so
  /// their `bos` means nothing. Of prompts of unequal length row b is prompt[b, :lengths[b]], and what follows is
  /// ignored; the longer ones are still read while the shorter ones are written. Of a prompt that is longer than the
  /// context, the model reads the end: what it would see if it had written the prompt itself, more than half a
  /// context. Records no graph. A model in training runs each step in evaluation mode, without dropout.
  /// Throws as next(), ShapeError unless lengths are (B), ValueError for a length that is not in [1, T].
  LanguageStepper start(const Index& prompt, const std::optional<Index>& lengths = {}) const;
  /// sample() after the prompt.
  Decoded generate(const Index& prompt, const SamplingOptions& options, const std::optional<Index>& lengths = {}) const;

 protected:
  using Module::Module;
  /// The result of operator() for ids that are checked.
  virtual Tensor forward(const Index& ids) const = 0;
  /// The result of next() for ids that are checked. Appends to the caches of the blocks; next() moves the position.
  virtual Tensor forward(const Index& ids, LanguageState& state) const = 0;
  virtual std::int64_t layers() const = 0;
  /// Throws ShapeError unless ids are (B, T) of the state's batch, ValueError if the context ends before they do.
  void check_ids(const Index& ids, const LanguageState* state = nullptr) const;
};

/// A language model in the middle of texts. Where the context is used up it goes on from the newer half of it, whose
/// positions then count from 0. The model must outlive it.
class LanguageStepper : public Stepper {
 public:
  /// As LanguageModel::start.
  LanguageStepper(const LanguageModel& model, const Index& prompt, const std::optional<Index>& lengths = {});

  std::int64_t batch() const override { return state_.batch; }
  /// The first step gives the logits after the prompt, whatever the tokens are.
  Tensor step(const Index& tokens) override;
  void select(const Index& rows) override;
  std::vector<std::int64_t> before(std::int64_t b) const override;
  std::optional<std::int64_t> given(std::int64_t b) const override;

 private:
  const LanguageModel& model_;
  Index prompt_, lengths_;  // (B, T), (B)
  std::int64_t read_;       // tokens read of each text
  LanguageState state_;
  Index text_;           // (B, .): the tokens that the state has seen
  Tensor after_prompt_;  // (B, V) until the first step
};

}  // namespace xgrad::nn
