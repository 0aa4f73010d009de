// LanguageModel: the base class of models that predict the next token of a text, nn::Gpt and nn::Llama.
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
/// The standard deviation of the initial weights of GPT-2, BERT and Llama.
inline constexpr double first_std = 0.02;
Init first_weights();
/// The options of learned positions with these initial weights.
inline PositionalEncodingOptions learned(double dropout = 0) {
  return {.kind = Positions::learned, .dropout = dropout, .init = first_weights()};
}
/// Resets all linear maps of a model to these initial weights, and their biases to 0.
void reset_linear_maps(const Module& model);
/// Throws ShapeError unless ids are (B, T).
void check_ids(const char* op, const Index& ids, const char* name = "ids");
}  // namespace detail

/// The state of a language model after the first tokens of B texts. If a step or select() throws, it is unchanged.
struct LanguageState {
  std::vector<KeyValueCache> blocks;
  std::int64_t batch = 0;     ///< B, the number of texts
  std::int64_t position = 0;  ///< position of the next token

  std::int64_t length() const { return position; }
  /// Keeps only the first `length` positions. Throws ValueError if there are fewer.
  void rewind(std::int64_t length);
  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

/// A model that returns, for every position of a text, the logits of the next token.
class LanguageModel : public Module {
 public:
  /// All positions in one pass: ids (B, T) -> logits (B, T, V). The logits at position t depend on the ids 0 ... t.
  /// Throws ShapeError unless ids are (B, T), and ValueError for an id outside the vocabulary or more positions than
  /// the context.
  Tensor operator()(const Index& ids) const;
  /// Step by step: ids (B, T) are the next T >= 1 tokens of the texts -> logits (B, V) of the token after them, the
  /// same as at the last position in one pass. Throws the same errors, and ShapeError if ids and state differ in batch
  /// size.
  Tensor next(const Index& ids, LanguageState& state) const;
  /// The maximum number of positions of a text.
  virtual std::int64_t context() const = 0;

  /// The state before the first token of B texts. The capacity of its caches is the context, at first at most 4096
  /// positions. Throws ValueError for a negative B.
  LanguageState begin(std::int64_t batch) const;
  /// Texts that start with the tokens of the prompt, (B, T), for greedy(), sample() and beam_search(). These continue
  /// the prompt and ignore their `bos`. With lengths, row b is prompt[b, :lengths[b]], and its other tokens are
  /// ignored. The model continues a shorter prompt while it still reads a longer one. If a prompt exceeds the context,
  /// the model reads only its end, more than half a context: the tokens that would be left if the model had generated
  /// the prompt (see LanguageStepper). Records no graph. A model in training runs each step in evaluation mode, without
  /// dropout. Throws what next() throws, ShapeError unless lengths are (B), and ValueError for a length outside [1, T].
  LanguageStepper start(const Index& prompt, const std::optional<Index>& lengths = {}) const;
  /// Samples texts that continue the prompt: sample(start(prompt, lengths), options).
  Decoded generate(const Index& prompt, const SamplingOptions& options, const std::optional<Index>& lengths = {}) const;

 protected:
  using Module::Module;
  /// The result of operator() for ids that have been checked.
  virtual Tensor forward(const Index& ids) const = 0;
  /// The result of next() for ids that have been checked. It appends to the caches of the blocks; next() then advances
  /// the position.
  virtual Tensor forward(const Index& ids, LanguageState& state) const = 0;
  virtual std::int64_t layers() const = 0;
  /// Throws ShapeError unless ids are (B, T) with the batch size of the state, and ValueError if they exceed the
  /// context.
  void check_ids(const Index& ids, const LanguageState* state = nullptr) const;
};

/// A language model that is writing texts. When the context is full, the newer half of its tokens is kept, and their
/// positions count from 0 again. The model must outlive the stepper.
class LanguageStepper : public Stepper {
 public:
  /// Arguments and errors: see LanguageModel::start.
  LanguageStepper(const LanguageModel& model, const Index& prompt, const std::optional<Index>& lengths = {});

  std::int64_t batch() const override { return state_.batch; }
  /// The first step returns the logits after the prompt and ignores its tokens.
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
